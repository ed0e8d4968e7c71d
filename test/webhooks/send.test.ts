import { afterAll, describe, expect, test } from '@jest/globals'
import { Webhook } from 'standardwebhooks'
import { generateSecret, signedHeaders } from '../../src/webhooks/signature.ts'
import { createSender } from '../../src/webhooks/send.ts'
import { startRawReceiver, startReceiver } from './receiver.ts'

const sender = createSender({ environment: 'sandbox', allowPrivateNetwork: true })
afterAll(() => sender.close())

const EMPTY = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
const post = (url: string) => sender.send({ url, headers: {}, body: '{"n":1}' })

describe('a webhook that arrives', () => {
  test('is verified by the official library as it was received, and refused after one changed byte', async () => {
    const { url, received } = await startReceiver((_request, response) => response.end('OK'))
    const secret = generateSecret()
    const body = JSON.stringify({ type: 'contract_signed', note: 'ünïcödé \u2028 🏠' })
    const headers = signedHeaders({ id: 'evt_1', body, at: new Date(), secrets: [secret] })
    expect(await sender.send({ url, headers, body })).toMatchObject({
      ok: true,
      status: 200,
      errorCode: null,
      hint: null,
    })
    const [got] = received
    expect(got?.body).toBe(body)
    expect(new Webhook(secret).verify(got?.body ?? '', got?.headers ?? {})).toEqual(JSON.parse(body))
    const bytes = Buffer.from(body)
    for (const index of bytes.keys()) {
      const changed = Buffer.from(bytes)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(() => new Webhook(secret).verify(changed, got?.headers ?? {}, { jsonParse: false })).toThrow(
        'No matching signature',
      )
    }
  })

  test.each([
    [-12, 'the clock of your server is 12 minutes behind ours'],
    [60, 'the clock of your server is 60 minutes ahead of ours'],
    [-4, 'is the secret that of this URL'],
  ])('says why it was refused by a receiver whose clock is %i minutes off', async (minutes, reason) => {
    const date = new Date(Date.now() + minutes * 60_000).toUTCString()
    const { url } = await startReceiver((_request, response) => response.writeHead(400, { date }).end())
    expect((await post(url)).hint).toContain(reason)
  })

  test.each([200, 202, 204])('counts as delivered when answered %i', async (status) => {
    const { url } = await startReceiver((_request, response) => response.writeHead(status).end())
    expect(await post(url)).toMatchObject({ ok: true, status, responseBody: '' })
  })

  test.each([
    ['an interim 100', 'HTTP/1.1 100 Continue\r\n\r\n', EMPTY, 200],
    ['an interim 103', 'HTTP/1.1 103 Early Hints\r\n\r\n', EMPTY, 200],
    ['a 204 with a body', 'HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n', 'OK', 204],
  ])('counts as delivered after %s, however that is cut into packets', async (_, first, second, status) => {
    const whole = await startRawReceiver((socket) => socket.write(first + second))
    const parts = await startRawReceiver((socket) => {
      socket.setNoDelay().write(first, () => setImmediate(() => socket.write(second)))
    })
    for (const { url } of [whole, parts]) expect(await post(url)).toMatchObject({ ok: true, status })
  })

  test('reuses the connections of those before', async () => {
    const { url, counts } = await startReceiver((_request, response) => response.end())
    for (let count = 0; count < 20; count++) expect((await post(url)).ok).toBe(true)
    // Not one: undici opens a second when the first is not yet free in the same turn of the event loop.
    expect(counts.connections).toBeLessThanOrEqual(2)
  })
})

describe('an answer other than 2xx is a failure that says what to do', () => {
  test.each([
    [301, 'redirect', 'register the final URL'],
    [400, 'http_error', 'every event.*signature check'],
    [410, 'http_error', 'pauses the endpoint'],
    [429, 'http_error', 'Retry-After'],
    [503, 'http_error', 'its log'],
  ])('%i', async (status, errorCode, advice) => {
    const { url } = await startReceiver((_request, response) => response.writeHead(status).end('why'))
    const outcome = await post(url)
    expect(outcome).toMatchObject({ ok: false, status, errorCode, retryAfter: null })
    expect(outcome.hint).toMatch(new RegExp(`^your endpoint answered ${status}: .*${advice}`))
  })

  test('a redirect is never followed', async () => {
    const target = await startReceiver((_request, response) => response.end())
    const { url } = await startReceiver((_request, response) =>
      response.writeHead(308, { location: target.url }).end(),
    )
    expect(await post(url)).toMatchObject({
      ok: false,
      errorCode: 'redirect',
      responseHeaders: { location: target.url },
    })
    expect(target.counts.connections).toBe(0)
  })

  test('the status counts even when the rest of the answer does not come', async () => {
    const { url } = await startRawReceiver((socket) => {
      socket.end('HTTP/1.1 503 Busy\r\nretry-after: 9\r\ncontent-length: 50\r\n\r\nhalf')
    })
    expect(await post(url)).toMatchObject({ status: 503, errorCode: 'http_error', retryAfter: '9' })
  })
})

describe('what is kept of an answer', () => {
  test('are its first 4 KiB as text that PostgreSQL can store', async () => {
    const { url } = await startReceiver((_request, response) =>
      response.end(`a\u0000\xff${'é'.repeat(4096)}`, 'utf8'),
    )
    const { responseBody } = await post(url)
    expect(responseBody).toMatch(/^a\ufffdÿé+… \(cut\)$/)
    expect(Buffer.byteLength(responseBody ?? '')).toBeLessThanOrEqual(4096 + '… (cut)'.length + 4)
  })

  test('are its headers without credentials, bounded in length', async () => {
    const secrets = ['set-cookie', 'webhook-signature', 'x-api-key', 'x-auth-token']
    const { url } = await startReceiver((_request, response) => {
      for (const name of secrets) response.setHeader(name, 'hush')
      response.setHeader('x-0', 'v'.repeat(20))
      response.end()
    })
    const { responseHeaders } = await post(url)
    expect(JSON.stringify(responseHeaders)).not.toContain('hush')
    expect(responseHeaders).toMatchObject({ 'x-0': 'v'.repeat(20) })
    const long = await startReceiver((_request, response) =>
      response.writeHead(200, { 'x-long': 'l'.repeat(9_000) }).end(),
    )
    expect((await post(long.url)).responseHeaders?.['x-long']).toHaveLength(512)
    const many = await startReceiver((_request, response) => {
      for (let index = 0; index < 20; index += 1) response.setHeader(`x-${index}`, 'v'.repeat(400))
      response.end()
    })
    const kept = Object.entries((await post(many.url)).responseHeaders ?? {}).flat()
    expect(kept.join('').length).toBeGreaterThan(1500)
    expect(kept.join('').length).toBeLessThanOrEqual(2048)
  })
})
