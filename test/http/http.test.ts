import { beforeAll, describe, expect, it, test } from '@jest/globals'
import { readableUrl } from '../../src/http/http-server.ts'
import { type Answer, type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'

let api: Api
let partner: ApiPartner
beforeAll(async () => {
  api = await prepareApi()
  partner = await api.addPartner()
})

const posts = ['create-lead', 'get-lead', 'get-events', 'update-partner-info']
const codeOf = ({ status, body }: Answer) => [status, body.error.code]

describe('GET /ping', () => {
  it('answers 200 without a key', async () => {
    const { status, body } = await api.send({ method: 'GET', url: '/v1/ping' })
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        message: 'pong',
        environment: 'sandbox',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      },
    ])
  })

  it('checks a key that is sent', async () => {
    expect((await partner.send({ method: 'GET', url: '/v1/ping' })).status).toBe(200)
    const bad = await api.send({
      method: 'GET',
      url: '/v1/ping',
      headers: { authorization: 'Service-Key x' },
    })
    expect(codeOf(bad)).toEqual([401, 'AUTH_FAILED'])
  })

  it.each(['/v1/ping?x=1&y=%', '/v1/%70ing', '/v1/ping#x', 'http://example.com/v1/ping'])(
    'answers at %s',
    async (url) => {
      expect((await api.send({ method: 'GET', url })).status).toBe(200)
    },
  )
})

describe('the order of checks', () => {
  it('is path, then method, then authentication, then media type and size, then the body', async () => {
    const json = { 'content-type': 'application/json' }
    const xml = { 'content-type': 'text/xml' }
    const big = 'x'.repeat(70_000)
    const steps: [Promise<Answer>, number][] = [
      [api.send({ method: 'PUT', url: '/v1/nothing', headers: xml, payload: big }), 404],
      [api.send({ method: 'PUT', url: '/v1/nothing', headers: json, payload: '{' }), 404],
      [api.send({ method: 'PUT', url: '/v1/get-lead', headers: xml, payload: big }), 405],
      [api.send({ method: 'PUT', url: '/v1/get-lead', headers: json, payload: '{' }), 405],
      [api.send({ method: 'PUT', url: '/v1/get-lead', headers: json, payload: big }), 405],
      [api.send({ method: 'QUERY', url: '/v1/get-lead' }), 405],
      [api.send({ method: 'POST', url: '/v1/get-lead', headers: json, payload: '{' }), 401],
      [api.send({ method: 'POST', url: '/v1/get-lead', headers: xml, payload: big }), 401],
      [partner.send({ method: 'POST', url: '/v1/get-lead', headers: xml, payload: big }), 415],
      [partner.post('get-lead', big), 413],
      [partner.post('get-lead', 'x'), 400],
    ]
    for (const [answer, status] of steps) expect((await answer).status).toBe(status)
  })

  it.each(posts)('tells a stranger nothing about what is wrong with the body of %s', async (path) => {
    const texts = await Promise.all(
      ['{', '{}', '[]', JSON.stringify({ ...borrower, lead_id: 1 })].map(
        async (body) => (await api.post(path, body)).text,
      ),
    )
    expect(new Set(texts).size).toBe(1)
  })
})

describe('an unknown path', () => {
  it.each([
    '/',
    '/v1/',
    '//',
    '/V1/ping',
    '/v1/get-lead/1',
    '/v1%2Fping',
    '/v1/ping%',
    '/v1/%ff',
    '/:x(^(a+)+$)',
    '/docs/static/a%5c..%5cb',
    '/v1/__proto__',
    '*',
    `/${'x'.repeat(8000)}`,
    '//example.com/v1/ping',
  ])('%# answers 404 NOT_FOUND', async (url) => {
    for (const method of ['GET', 'POST', 'OPTIONS'] as const) {
      expect(codeOf(await partner.send({ method, url }))).toEqual([404, 'NOT_FOUND'])
    }
  })
})

test.each([
  '/v1/%zz',
  'http://%zz/v1/ping',
  // the router takes no scheme in capitals off
  'HTTP://%zz/v1/ping',
  'HTTP://example.com/%zz',
])('the target %j, which cannot be decoded, is one that does not exist', (url) => {
  expect(readableUrl({ url })).toBe('/%25')
})

describe('another method', () => {
  it('answers 405 METHOD_NOT_ALLOWED with Allow', async () => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'] as never[]) {
      for (const path of [...posts, '%67et-lead', 'get-lead?x=1']) {
        const answer = await partner.send({ method, url: `/v1/${path}` })
        expect(codeOf(answer)).toEqual([405, 'METHOD_NOT_ALLOWED'])
        expect(answer.headers.allow).toBe('POST')
      }
    }
    const ping = await api.send({ method: 'POST', url: '/v1/ping', payload: {} })
    expect([ping.status, ping.headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  it('answers HEAD like GET, without a body', async () => {
    const { status, text, headers } = await api.send({ method: 'HEAD', url: '/v1/ping' })
    expect([status, text, Number(headers['content-length']) > 0]).toEqual([200, '', true])
    expect((await partner.send({ method: 'HEAD', url: '/v1/get-lead' })).status).toBe(405)
  })
})

describe('the media type', () => {
  const send = (headers: Record<string, string>) =>
    partner.send({ method: 'POST', url: '/v1/create-lead', headers, payload: JSON.stringify(borrower) })

  it.each([
    'application/json; charset=utf-8',
    'Application/Json; Charset="utf-8"',
    ' application/json ',
    'application/json;',
  ])('%j is JSON', async (type) => {
    expect((await send({ 'content-type': type })).status).toBe(200)
  })

  it.each([
    '',
    'application/jsonx',
    'application/vnd.api+json',
    'application/json, text/plain',
    'text/plain; application/json',
    'application/json/x',
    'application/*',
    'multipart/form-data; boundary=x',
    'x'.repeat(5000),
    '__proto__',
  ])('%j is not: 415 UNSUPPORTED_MEDIA_TYPE', async (type) => {
    expect(codeOf(await send({ 'content-type': type }))).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  })

  it('must be named where there is a body', async () => {
    const stream = Buffer.from(JSON.stringify(borrower))
    expect(codeOf(await partner.send({ method: 'POST', url: '/v1/create-lead', payload: stream }))).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ])
  })

  it.each(['gzip', 'br', 'x'])('refuses Content-Encoding: %s with 415', async (encoding) => {
    expect(codeOf(await send({ 'content-type': 'application/json', 'content-encoding': encoding }))).toEqual([
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ])
  })
})

describe('the body', () => {
  const padded = (bytes: number) => {
    const body = JSON.stringify({ ...borrower, padding: '' })
    return body.replace('"padding":""', `"padding":"${'x'.repeat(bytes - body.length)}"`)
  }

  it('may have 64 KiB, not one byte more: 413 PAYLOAD_TOO_LARGE', async () => {
    expect((await partner.post('create-lead', padded(65_536))).status).toBe(200)
    expect(codeOf(await partner.post('create-lead', padded(65_537)))).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  })

  it.each(posts)('of %s must be a JSON object', async (path) => {
    for (const body of ['[]', 'null', '1', '{', '{"a":1,}', '{} {}', '\u0000', '\uFEFF', '"\\ud800"']) {
      expect(codeOf(await partner.post(path, body))).toEqual([400, 'INVALID_PAYLOAD'])
    }
  })

  it.each([
    ['a lone byte', [0x22, 0xff, 0x22]],
    ['a character cut off', [0x7b, 0x22, 0xe2, 0x82]],
    ['UTF-16', [...Buffer.from('{"lead_id":1}', 'utf16le')]],
  ])('with %s is refused, not repaired', async (_, bytes) => {
    expect(codeOf(await partner.post('get-lead', Buffer.from(bytes)))).toEqual([400, 'INVALID_PAYLOAD'])
  })

  it('may begin with a byte order mark', async () => {
    expect((await partner.post('create-lead', `\uFEFF${JSON.stringify(borrower)}`)).status).toBe(200)
  })

  it('may be nested 32 levels deep, whatever its brackets are hidden behind: beyond that 400 INVALID_PAYLOAD', async () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    const lead = (x: string) => `{"x": ${x}, ${JSON.stringify(borrower).slice(1)}`
    expect((await partner.post('create-lead', lead(nested(31)))).status).toBe(200)
    expect((await partner.post('create-lead', lead(JSON.stringify('[{'.repeat(15_000))))).status).toBe(200)
    const tooDeep = [
      lead(nested(32)),
      nested(32_000),
      '['.repeat(8_000),
      '{"x":'.repeat(8_000),
      `/*"*/${'['.repeat(8_000)}`,
      `"\n${'['.repeat(8_000)}`,
      `{"lead_id": 1, "x": ${nested(30_000)}}`,
    ]
    for (const path of posts) {
      for (const body of tooDeep) {
        expect(codeOf(await partner.post(path, body))).toEqual([400, 'INVALID_PAYLOAD'])
      }
    }
  })
})

describe('every answer', () => {
  it('has a request id of its own, is not cached and cannot be framed', async () => {
    const answers = await Promise.all([
      partner.createLead().then(async (lead_id) => partner.post('get-lead', { lead_id })),
      partner.post('get-lead', '{'),
      api.post('get-lead', {}),
      partner.send({ method: 'GET', url: '/v1/nothing' }),
      partner.send({ method: 'GET', url: '/v1/%' }),
    ])
    for (const { headers } of answers) {
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
      expect(headers['cache-control']).toBe('no-store')
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'")
      expect(headers['content-type']).toBe('application/json; charset=utf-8')
    }
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(answers.length)
  })
})
