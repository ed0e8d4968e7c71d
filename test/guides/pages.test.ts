import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { guidesOf, presentGuides } from '../../src/capabilities/guides/guides.ts'
import { render } from '../../src/capabilities/guides/rendering.ts'
import { ERRORS_PATH } from '../../src/core/http/error-help.ts'
import { type Api, prepareApi } from '../api/api.ts'
import { temporaryFolder } from '../support/folder.ts'

const root = path.join(import.meta.dirname, '../..')
const guides = presentGuides()
const linksIn = (html: string) => Array.from(html.matchAll(/ href="([^"]+)"/g), ([, href = '']) => href)

describe.each(['sandbox', 'production'] as const)('the guides of a %s', (environment) => {
  let api: Api
  beforeAll(async () => {
    api = await prepareApi({ environment })
  })

  it('are integrate, webhooks, sandbox and more', () => {
    expect(guides.map((guide) => guide.path)).toEqual([
      '/docs/integrate',
      '/docs/webhooks',
      '/docs/sandbox',
      '/docs/typescript',
      '/docs/python',
      '/docs/limits',
      '/docs/changes',
    ])
  })

  it.each([...guides.map((guide) => guide.path), '/docs/errors', '/docs/search', '/docs'])(
    '%s has what it needs from this host, and leads to all others',
    async (url) => {
      const { statusCode, headers, body } = await api.app.inject(url)
      expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      expect(headers['content-security-policy']).toMatch(/^default-src 'none';.*form-action 'self'/)
      expect(body).not.toMatch(/<script>| src="https?:|<link[^>]+https?:|url\(/)
      const links = linksIn(body)
      for (const { path: guide } of guides) expect(links).toContain(guide)
      expect(links).toEqual(expect.arrayContaining(['/docs', '/docs/errors']))
      expect(body).toContain('<form role="search" action="/docs/search">')
    },
  )

  it.each(guides)('$path leads to pages and headings that exist', async ({ path: page }) => {
    const { body } = await api.app.inject(page)
    const dead: string[] = []
    for (const link of linksIn(body).filter((href) => !/^https?:|^data:/.test(href))) {
      const [target = '', anchor = ''] = link.split('#')
      const { statusCode, body: linked } = await api.app.inject(target === '' ? page : target)
      const isThere = anchor === '' || target === '/docs' || linked.includes(` id="${anchor}"`)
      if (statusCode !== 200 || !isThere) dead.push(link)
    }
    expect(dead).toEqual([])
    expect(body).not.toContain('.md#')
  })

  it.each([...guides.map((guide) => guide.path), '/docs/errors'])(
    '%s.md is the same in Markdown, with links that lead somewhere',
    async (page) => {
      const { statusCode, headers, body } = await api.app.inject(`${page}.md`)
      expect([statusCode, headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8'])
      expect(body).toMatch(/^# /)
      const links = Array.from(body.matchAll(/\]\((?!https?:|#)([^)\s#]+)/g), ([, link = '']) => link)
      for (const link of new Set(links))
        expect([link, (await api.app.inject(link)).statusCode]).toEqual([link, 200])
    },
  )

  it('lists them in /llms.txt', async () => {
    const { body, statusCode } = await api.app.inject('/llms.txt')
    expect(statusCode).toBe(200)
    expect(body).toMatch(/^# Partner Referral Service\n\n> /)
    const links = Array.from(body.matchAll(/^- \[[^\]]+\]\(([^)]+)\): ./gm), ([, link = '']) => link)
    expect(links).toEqual([
      ...guides.map((guide) => `${guide.path}.md`),
      '/v1/openapi.json',
      `${ERRORS_PATH}.md`,
    ])
    for (const link of links) expect((await api.app.inject(link)).statusCode).toBe(200)
  })

  it('leads to the console in a sandbox only', async () => {
    const { body } = await api.app.inject('/docs/webhooks')
    expect(body.includes('<a href="/console">the console</a>')).toBe(environment === 'sandbox')
    expect(body).toContain('the console')
  })
})

describe('a guide', () => {
  const shown = (markdown: string) => render(markdown, (href) => ({ page: href, markdown: href }))

  it('shows markup as text', () => {
    expect(shown('# T\n\n<script>alert(1)</script>\n\n<b>x</b> ![y](z.png)').html).toBe(
      '<h1>T</h1>\n&lt;script&gt;alert(1)&lt;/script&gt;<p>&lt;b&gt;x&lt;/b&gt; y</p>\n',
    )
  })

  it('has the anchors that GitHub makes', () => {
    const { sections } = shown(
      '# T\n\n## What doesn’t `x_y` – change?\n\na\n\n## Same\n\nb\n\n## Same\n\nc\n',
    )
    expect(sections.map(({ anchor }) => anchor)).toEqual(['', 'what-doesnt-x_y--change', 'same', 'same-1'])
  })

  it('keeps the text of a link to what the host does not serve', () => {
    const { html, markdown } = render('# T\n\nSee [the\ncode](../src/app.ts), now.', () => undefined)
    expect(html).toContain('<p>See the\ncode, now.</p>')
    expect(markdown).toBe('# T\n\nSee the\ncode, now.')
  })

  it('that is missing is said once, and not linked to', () => {
    const folder = temporaryFolder()
    mkdirSync(path.join(folder, 'docs'))
    writeFileSync(path.join(folder, 'docs/webhooks.md'), '# Webhooks')
    const said: string[] = []
    const { links } = guidesOf({ error: (line: string) => void said.push(line) } as never, folder)
    expect(links.map((link) => link.path)).toEqual(['/docs/webhooks'])
    expect(said).toHaveLength(guides.length - 1)
    expect(said[0]).toBe('docs/integrate.md is missing: /docs/integrate is not served')
  })

  it('is in the image', () => {
    const ignored = readFileSync(path.join(root, '.dockerignore'), 'utf8').split('\n')
    expect(ignored).toEqual(expect.arrayContaining(guides.map(({ file }) => `!${file}`)))
    expect(readFileSync(path.join(root, 'Dockerfile'), 'utf8')).toContain('COPY docs ./docs\n')
  })
})
