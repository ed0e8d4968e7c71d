import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { CACHE_MS } from '../../src/partners/authentication.ts'
import { holdRow } from '../support/row-lock.ts'
import { silentPeers } from '../support/silent-peers.ts'
import { until } from '../support/until.ts'
import { makeCertificate } from '../webhooks/certificate.ts'
import { type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'

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
    ['no Host', ['GET /v1/ping HTTP/1.1', close, '', '']],
    ['two Hosts', ['GET /v1/ping HTTP/1.1', 'Host: x', 'host: y', close, '', '']],
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
  ]
  it.each(broken)('refuses %s in the shape of every failure', async (_, lines) => {
    const { status, head, body } = await exchange(...lines)
    expect([status, JSON.parse(body)]).toEqual([
      400,
      { success: false, error: { code: 'INVALID_PAYLOAD', message: expect.any(String), fields: [] } },
    ])
    expect(head).toContain('application/json; charset=utf-8')
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

  it('logs no error if the sender leaves in the middle of its body', async () => {
    const before = api.logged.length
    const socket = connect(port, '127.0.0.1')
    const head = ['POST /v1/export-lead HTTP/1.1', 'Host: x', authorization()]
    socket.write([...head, 'Content-Type: application/json', 'Content-Length: 20', '', '{"lead'].join('\r\n'))
    await once(api.app.server, 'request')
    socket.destroy()
    const ofIt = () => api.logged.slice(before).filter((line) => line.includes('export-lead'))
    await until(async () => ofIt().length > 0)
    expect(ofIt().map((line) => (JSON.parse(line) as { status: number }).status)).toEqual([499])
    expect(api.logged.slice(before).filter((line) => line.includes('"level":50'))).toEqual([])
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

describe('a connection that keeps the API waiting', () => {
  const SHORT_MS = 500
  const LONG_MS = 60_000
  const { cert, key } = makeCertificate({ host: 'localhost' })
  const everyLimit = (ms: number) => ({ handshakeMs: ms, requestMs: ms, silenceMs: ms, keepAliveMs: ms })

  async function listen(limits: object, tls?: { cert: string; key: string }) {
    const api = await prepareApi({ limits, ...(tls && { tls }) })
    await api.app.listen({ host: '127.0.0.1', port: 0 })
    const connections = promisify(api.app.server.getConnections.bind(api.app.server))
    const downTo = (count: number) => until(async () => (await connections()) === count && 'so few')
    const { key: ownKey } = await api.addPartner()
    return { ...api, ownKey, downTo, port: (api.app.server.address() as AddressInfo).port }
  }
  const post = (...lines: string[]) => ['POST /v1/get-lead HTTP/1.1', 'Host: x', ...lines].join('\r\n')
  const halfOfTheHeaders = post('Content-Type: appl')
  const halfOfTheBody = (ownKey: string, length = 9) =>
    post(
      `Authorization: Service-Key ${ownKey}`,
      'Content-Type: application/json',
      `Content-Length: ${length}`,
      '',
      '{',
    )
  const beginnings = (ownKey: string) => [
    '',
    halfOfTheHeaders,
    halfOfTheBody(ownKey),
    'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n',
  ]

  it.each([
    ['plain', undefined],
    ['with TLS', { cert, key }],
  ])('is given back when its peer falls silent, %s', async (_, tls) => {
    const { port, ownKey, downTo } = await listen(everyLimit(SHORT_MS), tls)
    const peer = { port, ...(tls && { ca: cert }) }
    for (const bytes of beginnings(ownKey)) await silentPeers(3, peer, bytes)
    // half a handshake with TLS, invalid HTTP without
    await silentPeers(3, { port }, '\u0016\u0003\u0001\u0002\u0000\u0001')
    expect(await downTo(0)).toBe('so few')
  })

  it('is given back when its peer sends a byte at a time', async () => {
    const { port, ownKey, downTo } = await listen({ ...everyLimit(LONG_MS), requestMs: SHORT_MS })
    const head = await silentPeers(3, { port }, halfOfTheHeaders)
    const body = await silentPeers(3, { port }, halfOfTheBody(ownKey, 9999))
    const trickle = setInterval(() => [...head, ...body].forEach((socket) => socket.write('x')), 50)
    const left = downTo(0).finally(() => clearInterval(trickle))
    await expect(left).resolves.toBe('so few')
  })

  it('is given back when its peer does not read its answers', async () => {
    const { port, downTo } = await listen({ ...everyLimit(LONG_MS), silenceMs: SHORT_MS })
    await silentPeers(3, { port }, 'GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500))
    expect(await downTo(0)).toBe('so few')
  })

  it('does not keep the API from closing', async () => {
    const { app, port, ownKey } = await listen({ ...everyLimit(LONG_MS), stopMs: SHORT_MS })
    await Promise.all(beginnings(ownKey).map((bytes) => silentPeers(3, { port }, bytes)))
    const closed = app.close().then(() => 'closed')
    expect(await Promise.race([closed, delay(30_000, 'open', { ref: false })])).toBe('closed')
  })

  it('is closed unanswered beyond the most connections, and others are taken once there is room', async () => {
    const { app, port, downTo } = await listen({ ...everyLimit(LONG_MS), maxConnections: 2 })
    const [first] = await silentPeers(2, { port })
    const dropped = once(app.server, 'drop')
    const [third] = await silentPeers(1, { port })
    await dropped
    third?.resume()
    await once(third!, 'end')
    expect(third?.bytesRead).toBe(0)
    first?.destroy()
    await downTo(1)
    expect((await fetch(`http://127.0.0.1:${port}/v1/ping`)).status).toBe(200)
  })
})
