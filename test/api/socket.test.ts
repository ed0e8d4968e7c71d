import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { CACHE_MS } from '../../src/core/http/plugins/authentication.ts'
import { holdRow } from '../support/row-lock.ts'
import { until } from '../support/until.ts'
import { type Api, type ApiPartner, borrower, prepareApi } from './api.ts'

/** Requests that Node's HTTP server rejects or handles before routing, sent as bytes over a real socket. */
describe('over a socket', () => {
  let api: Api
  let partner: ApiPartner
  let port: number
  beforeAll(async () => {
    api = await prepareApi()
    partner = await api.addPartner()
    await api.app.listen({ host: '127.0.0.1', port: 0 })
    port = (api.app.server.address() as AddressInfo).port
  })

  /** Sends bytes and reads until the server closes the connection. */
  async function exchange(...lines: string[]): Promise<{ status: number; head: string; body: string }> {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write(lines.join('\r\n'))
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n', 2)
    return { status: Number(head.split(' ')[1]), head, body }
  }
  const close = 'Connection: close'
  const authorization = () => `Authorization: Service-Key ${partner.key}`

  const broken: [string, string[]][] = [
    ['what is not HTTP', ['hello', '', '']],
    ['a TLS handshake', ['\u0016\u0003\u0001\u0002\u0000\u0001', '', '']],
    ['an unknown method', ['FOO /v1/ping HTTP/1.1', 'Host: x', close, '', '']],
    ['an unknown version', ['GET /v1/ping HTTP/9.9', 'Host: x', '', '']],
    ['no Host', ['GET /v1/ping HTTP/1.1', close, '', '']],
    ['a header that is none', ['GET /v1/ping HTTP/1.1', 'Host: x', 'no colon', '', '']],
    ['a header with NUL', ['GET /v1/ping HTTP/1.1', 'Host: x', 'X: a\u0000b', '', '']],
    [
      'two lengths',
      ['POST /v1/get-lead HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Content-Length: 2', '', '{}'],
    ],
    ['a negative length', ['POST /v1/get-lead HTTP/1.1', 'Host: x', 'Content-Length: -1', '', '']],
    [
      'a length and chunks',
      [
        'POST /v1/get-lead HTTP/1.1',
        'Host: x',
        'Content-Length: 2',
        'Transfer-Encoding: chunked',
        '',
        '0',
        '',
        '',
      ],
    ],
    [
      'a bad chunk',
      ['POST /v1/get-lead HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked', '', 'zz', '', ''],
    ],
    ['a space in the path', ['GET /v1/pi ng HTTP/1.1', 'Host: x', '', '']],
  ]
  it.each(broken)('refuses %s in the shape of every failure', async (_, lines) => {
    const { status, head, body } = await exchange(...lines)
    expect([status, JSON.parse(body)]).toEqual([
      400,
      { success: false, error: { code: 'INVALID_PAYLOAD', message: expect.any(String), fields: [] } },
    ])
    expect(head).toContain('application/json; charset=utf-8')
  })

  it('names a request without Host, and keeps its response from caches, as every other', async () => {
    const { head } = await exchange('GET /v1/ping HTTP/1.1', close, '', '')
    expect(head).toMatch(/^x-request-id: [\da-f-]{36}$/m)
    expect(head).toMatch(/^cache-control: no-store$/m)
  })

  it('refuses a key that was revoked while the body came, and does nothing', async () => {
    const other = await api.addPartner()
    const body = JSON.stringify(borrower)
    const socket = connect(port, '127.0.0.1')
    const head = [
      'POST /v1/create-lead HTTP/1.1',
      'Host: x',
      `Authorization: Service-Key ${other.key}`,
      close,
    ]
    const length = `Content-Length: ${Buffer.byteLength(body)}`
    socket.write([...head, 'Content-Type: application/json', length, '', body.slice(0, -1)].join('\r\n'))
    const isUsed = async () => {
      const row = api.sql.selectFrom('api_keys').select('last_used_at').where('id', '=', other.keyId)
      return (await row.executeTakeFirstOrThrow()).last_used_at !== null
    }
    await until(isUsed)
    const revokedAt = performance.now()
    await api.sql
      .updateTable('api_keys')
      .set({ revoked_at: new Date() })
      .where('id', '=', other.keyId)
      .execute()
    // a key is looked up again after a second
    await delay(2 * CACHE_MS - (performance.now() - revokedAt))
    socket.write(body.slice(-1))
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 401 /)
    const leads = api.sql.selectFrom('leads').select('id').where('partner_id', '=', other.id)
    expect(await leads.execute()).toEqual([])
  })

  it('logs and measures a request whose sender left before the response', async () => {
    const lead = await partner.createLead()
    const row = await holdRow(api.sql, 'leads', `id = ${lead}`)
    const body = JSON.stringify({ lead_id: lead, partner_lead_id: 'X' })
    const socket = connect(port, '127.0.0.1')
    const head = ['POST /v1/update-partner-info HTTP/1.1', 'Host: x', authorization()]
    const length = `Content-Length: ${Buffer.byteLength(body)}`
    socket.write([...head, 'Content-Type: application/json', length, '', body].join('\r\n'))
    await row.reached()
    socket.destroy()
    const ofIt = () => api.logged.filter((line) => line.includes('update-partner-info'))
    try {
      await until(async () => ofIt().length > 0)
    } finally {
      await row.release()
    }
    expect(ofIt().map((line) => (JSON.parse(line) as { status: number }).status)).toEqual([499])
  })

  it.each([
    ['headers', ['GET /v1/ping HTTP/1.1', 'Host: x', `X: ${'x'.repeat(20_000)}`, '', '']],
    ['an address', [`GET /v1/ping?${'x'.repeat(20_000)} HTTP/1.1`, 'Host: x', '', '']],
  ])('refuses %s beyond Node’s limit with 413', async (_, lines) => {
    const { status, body } = await exchange(...lines)
    expect([status, JSON.parse(body).error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  })

  it('answers CONNECT with 405', async () => {
    const { status, body } = await exchange('CONNECT example.com:443 HTTP/1.1', 'Host: example.com', '', '')
    expect([status, JSON.parse(body).error.code]).toEqual([405, 'METHOD_NOT_ALLOWED'])
  })

  it.each(['Expect: 100-continue', 'Expect: anything', 'Upgrade: websocket', 'Upgrade: h2c'])(
    'answers a request with %s as any other',
    async (header) => {
      const upgrade = header.startsWith('Upgrade') ? ['Connection: Upgrade, close'] : [close]
      const { head } = await exchange('GET /v1/ping HTTP/1.1', 'Host: x', header, ...upgrade, '', '')
      expect(head).toMatch(/^HTTP\/1\.1 (100|200) /)
    },
  )

  it('answers HTTP/1.0 without Host, and a whole URL as the target', async () => {
    expect((await exchange('GET /v1/ping HTTP/1.0', '', '')).status).toBe(200)
    expect((await exchange('GET http://x/v1/ping HTTP/1.1', 'Host: x', close, '', '')).status).toBe(200)
    const other = await exchange('DELETE http://x/v1/ping?a=1 HTTP/1.1', 'Host: x', close, '', '')
    expect([other.status, other.head]).toEqual([405, expect.stringContaining('allow: GET, HEAD')])
    expect((await exchange('OPTIONS * HTTP/1.1', 'Host: x', close, '', '')).status).toBe(404)
  })

  it('refuses a body over 64 KiB by its announced length, and one that is sent in chunks', async () => {
    const head = [
      'POST /v1/create-lead HTTP/1.1',
      'Host: x',
      authorization(),
      'Content-Type: application/json',
    ]
    const announced = await exchange(...head, 'Content-Length: 100000', '', '')
    const chunked = await exchange(
      ...head,
      'Transfer-Encoding: chunked',
      '',
      '11000',
      'x'.repeat(0x11000),
      '0',
      '',
      '',
    )
    for (const { status, body } of [announced, chunked]) {
      expect([status, JSON.parse(body).error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    }
  })

  it('takes a body in chunks and several requests on one connection', async () => {
    const body = JSON.stringify(borrower)
    const head = [
      'POST /v1/create-lead HTTP/1.1',
      'Host: x',
      authorization(),
      'Content-Type: application/json',
    ]
    const chunks = ['Transfer-Encoding: chunked', '', body.length.toString(16), body, '0', '', '']
    const whole = [...head, `Content-Length: ${body.length}`, close, '', body]
    const socket = connect(port, '127.0.0.1')
    socket.write([...head, ...chunks].join('\r\n') + whole.join('\r\n'))
    expect((await text(socket)).match(/"success":true/g)).toHaveLength(2)
  })

  it('ignores a second Content-Type, and refuses two that Node joins', async () => {
    const body = JSON.stringify(borrower)
    const send = (...types: string[]) =>
      exchange(
        'POST /v1/create-lead HTTP/1.1',
        'Host: x',
        authorization(),
        ...types.map((type) => `Content-Type: ${type}`),
        `Content-Length: ${body.length}`,
        close,
        '',
        body,
      )
    expect((await send('application/json', 'text/plain')).status).toBe(200)
    expect((await send('text/plain', 'application/json')).status).toBe(415)
  })
})
