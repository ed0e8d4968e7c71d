import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { milestoneNames } from '../src/leads/milestones.ts'
import { type Api, prepareApi } from './support/api.ts'

/** Of the page's import map, as browsers make it. */
function hashOf(page: string): string {
  const [, map = ''] = /<script type="importmap">(.*?)<\/script>/s.exec(page) ?? []
  return createHash('sha256').update(map).digest('base64')
}

describe('GET /console', () => {
  let api: Api
  const get = async (url: string) => {
    const { statusCode: status, headers, body: text } = await api.app.inject({ method: 'GET', url })
    return { status, headers, text }
  }
  beforeAll(async () => {
    api = await prepareApi()
  })

  it('serves the page without a key, under a policy that allows no other host, and nothing inline but the import map', async () => {
    for (const url of ['/console', '/console/']) {
      const { status, headers, text } = await get(url)
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      expect(text).toContain('src="/console/main.js"')
      expect(headers['content-security-policy']).toContain(
        `default-src 'none';script-src 'self' 'sha256-${hashOf(text)}';style-src 'self';`,
      )
      expect(headers['content-security-policy']).not.toContain('unsafe')
      expect(headers['cache-control']).toBe('no-cache')
      expect(headers['set-cookie']).toBeUndefined()
    }
  })

  it('serves its scripts, and no other file', async () => {
    const scripts = [
      'main.js',
      'views/lead.js',
      'preact.js',
      'preact.mjs',
      'hooks.mjs',
      'htm.mjs',
      'service.js',
    ]
    for (const file of scripts) {
      const { status, headers } = await get(`/console/${file}`)
      expect([file, status]).toEqual([file, 200])
      expect(headers['content-type']).toMatch(/javascript/)
    }
    for (const file of ['tsconfig.json', 'preact.d.ts', 'nothing', '..%2fapp.ts', 'views', 'views/'])
      expect([file, (await get(`/console/${file}`)).status]).toEqual([file, 404])
  })

  it('tells the page which milestones there are, and that there are sinks', async () => {
    const { text } = await get('/console/service.js')
    const exported = Array.from(text.matchAll(/^export const (\w+) = (.*)$/gm))
    const values = Object.fromEntries(exported.map(([, name, value]) => [name, JSON.parse(value ?? '')]))
    expect(values.milestones.map(({ name }: { name: string }) => name)).toEqual(milestoneNames)
    expect(values.hasSinks).toBe(true)
  })
})
