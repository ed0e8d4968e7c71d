import { beforeAll, describe, expect, it } from '@jest/globals'
import { type Api, prepareApi } from '../api/api.ts'

/** What developers of a lender ask, and where they should land. */
const questions: [string, string][] = [
  ['webhook signature verify', '/docs/webhooks#verify-the-signature'],
  ['how do I verify a webhook?', '/docs/webhooks#verify-the-signature'],
  ['HMAC SHA256 raw body', '/docs/webhooks#verify-the-signature'],
  ['IP address allowlist', '/docs/webhooks#let-webhooks-through-your-firewall'],
  ['firewall', '/docs/webhooks#let-webhooks-through-your-firewall'],
  ['pagination', '/docs/integrate#read-lists-page-by-page'],
  ['next page cursor', '/docs/integrate#read-lists-page-by-page'],
  ['Idempotency-Key', '/docs/integrate#repeat-a-request-safely'],
  ['retry a request after a timeout', '/docs/integrate#repeat-a-request-safely'],
  ['install the TypeScript client', '/docs/integrate#use-a-client'],
  ['python client', '/docs/python'],
  ['rate limit headers', '/docs/limits#read-the-headers'],
  ['how many requests a minute', '/docs/integrate#limits'],
  ['429', '/docs/errors#RATE_LIMITED'],
  ['AUTH_FAILED', '/docs/errors#AUTH_FAILED'],
  ['LEAD_CLOSED', '/docs/errors#LEAD_CLOSED'],
  ['timezone of timestamps', '/docs/integrate#read-times'],
  ['withdraw a borrower close lead', '/docs/integrate#close-a-lead'],
  ['delete personal data of a borrower', '/docs/integrate#export-or-erase-a-borrower'],
  ['webhook retry schedule', '/docs/webhooks#know-when-a-failed-webhook-is-retried'],
  ['webhook response status code', '/docs/webhooks#know-when-a-webhook-counts-as-delivered'],
  ['duplicate webhooks order', '/docs/webhooks#handle-repeats-and-order'],
  ['send a webhook again', '/docs/webhooks#send-a-webhook-again'],
  ['resend webhook', '/docs#tag/deliveries/POST/resend-webhook'],
  ['why is my webhook late', '/docs/webhooks#find-out-why-a-webhook-is-late'],
  ['rotate signing secret', '/docs#tag/endpoint/POST/rotate-endpoint-secret'],
  ['certification checks', '/docs/webhooks#pass-the-certification'],
  ['long polling', '/docs/webhooks#poll-for-events-instead'],
  ['simulate milestones', '/docs/sandbox#simulate-milestones'],
  ['move the clock forward', '/docs/sandbox#advance-the-clock'],
  ['test scenarios', '/docs/sandbox#play-a-whole-journey'],
  ['breaking changes versioning', '/docs/changes#what-doesnt-change-within-v1'],
  ['custom metadata fields of a lead', '/docs/integrate#change-a-lead'],
  ['go live checklist', '/docs/integrate#before-you-go-live'],
  ['get an API key', '/docs/integrate#get-a-key'],
  ['create-lead', '/docs#tag/leads/POST/create-lead'],
  ['export-lead', '/docs#tag/leads/POST/export-lead'],
]

describe('GET /docs/search', () => {
  let api: Api
  beforeAll(async () => {
    api = await prepareApi()
  })

  const search = async (query: string) => {
    const { body, statusCode } = await api.app.inject({ url: '/docs/search', query: { q: query } })
    expect(statusCode).toBe(200)
    return { body, found: Array.from(body.matchAll(/<li><a href="([^"]+)">/g), ([, path = '']) => path) }
  }

  it.each(questions)('answers “%s” with %s first', async (question, path) => {
    expect((await search(question)).found[0]).toBe(path)
  })

  it.each(['pagination', '429', 'webhook signature verify', 'scenarios', 'Idempotency-Key'])(
    'leads from “%s” to places that exist',
    async (question) => {
      const { found } = await search(question)
      const { paths } = (await api.app.inject('/v1/openapi.json')).json()
      const calls = Object.entries(paths as object).flatMap(([call, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()}${call}`),
      )
      const dead: string[] = []
      for (const place of found) {
        const [path = '', anchor = ''] = place.split('#')
        const { statusCode, body } = await api.app.inject(path)
        const [, call = ''] = /^tag\/[a-z]+\/(.*)$/.exec(anchor) ?? []
        const isThere = calls.includes(call) || anchor === '' || body.includes(` id="${anchor}"`)
        if (statusCode !== 200 || !isThere) dead.push(place)
      }
      expect(found).not.toEqual([])
      expect(dead).toEqual([])
    },
  )

  it('finds the forms of a word, and a word with a mistake', async () => {
    const path = '/docs/webhooks#verify-the-signature'
    for (const question of [
      'verifying webhook signatures',
      'verifies a webhook signature',
      'webhook signatre verify',
    ])
      expect((await search(question)).found[0]).toBe(path)
  })

  it('shows what was searched for as text, and finds nothing in what says nothing', async () => {
    for (const question of [
      '',
      '   ',
      'how do I',
      '"><script>alert(1)</script>',
      '\u0000\ud800',
      'zzzzzz qqqqqq',
    ])
      expect((await search(question)).body).not.toContain('<script')
    expect((await search('"><script>')).body).toContain('value="&quot;&gt;&lt;script&gt;"')
    expect((await search('zzzzzz')).body).toContain('Nothing was found for <b>zzzzzz</b>')
  })

  it('takes a query of any length, and one that is given twice or not at all', async () => {
    const long = await search('webhook '.repeat(1000))
    expect(long.body).toContain(`value="${'webhook '.repeat(1000).slice(0, 200)}"`)
    expect(long.found).toHaveLength(10)
    for (const url of [
      '/docs/search',
      '/docs/search?q=a&q=b',
      '/docs/search?q',
      '/docs/search?q[]=a',
      '/docs/search?q=%',
    ])
      expect((await api.app.inject(url)).statusCode).toBe(200)
  })

  it('is a page without scripts, whose form may only be sent to this host', async () => {
    const { headers, body } = await api.app.inject('/docs/search?q=webhook')
    expect(headers['content-security-policy']).toMatch(/^default-src 'none';.*form-action 'self'/)
    expect(body).not.toMatch(/<script|(?:src|href|action)="https?:/)
  })
})
