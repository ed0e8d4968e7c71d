import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'

const root = path.join(import.meta.dirname, '..')
const recipe = readFileSync(path.join(root, 'docs/deploy/web-ui/nginx.conf'), 'utf8')

describe('docs/deploy/web-ui', () => {
  it('signs in by groups, over TLS, with every setting that nginx relies on', () => {
    const settings = readFileSync(path.join(root, 'docs/deploy/web-ui/oauth2-proxy.cfg'), 'utf8')
    const set = Object.fromEntries(
      Array.from(settings.matchAll(/^(\w+) = (.+)$/gm), ([, name = '', value = '']) => [
        name,
        JSON.parse(value) as unknown,
      ]),
    )
    expect(set).toMatchObject({
      reverse_proxy: true,
      set_xauthrequest: true,
      cookie_secure: true,
      allowed_groups: ['temporal-viewers', 'temporal-operators'],
      redirect_url: 'https://temporal.example.com/oauth2/callback',
    })
    expect(settings).not.toMatch(/^(client|cookie)_secret/m)
    const [, port] = /http_address = "127\.0\.0\.1:(\d+)"/.exec(settings) ?? []
    expect(recipe).toContain(`server 127.0.0.1:${port};`)
  })
})

describe('docs/deploy/web-ui/compose.yaml', () => {
  const compose = (file: string) =>
    parse(readFileSync(path.join(root, file), 'utf8'), { merge: true }) as {
      services: Record<string, { image: string; environment?: Record<string, string> }>
    }
  const added = compose('docs/deploy/web-ui/compose.yaml').services
  const { 'temporal-ui': acting } = compose('docker-compose.yml').services

  it.each(Object.entries(added))('gives %s an end to its memory, CPU and processes', (_, container) => {
    expect(container).toMatchObject({
      mem_limit: expect.stringMatching(/^\d+m$/),
      cpus: expect.any(Number),
      pids_limit: expect.any(Number),
      security_opt: ['no-new-privileges:true'],
    })
  })

  it('shows viewers the same Web UI, which changes nothing', () => {
    const reading = added['temporal-ui-reading']
    expect(reading?.image).toBe(acting?.image)
    expect(reading?.environment?.TEMPORAL_DISABLE_WRITE_ACTIONS).toBe('true')
  })
})
