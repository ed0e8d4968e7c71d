import { afterAll, describe, expect, test } from '@jest/globals'
import { createSender } from '../../src/webhooks/send.ts'
import { startRawReceiver, startReceiver } from './receiver.ts'

const sender = createSender({ environment: 'sandbox', allowPrivateNetwork: true })
afterAll(() => sender.close())

const post = (url: string) => sender.send({ url, headers: {}, body: '{}' })

describe('a connection that fails is an outcome, never an exception', () => {
  test('nothing listens', async () => {
    const { url, close } = await startReceiver(() => {})
    await close()
    expect(await post(url)).toMatchObject({
      ok: false,
      status: null,
      errorCode: 'connection_refused',
      hint: expect.stringContaining('refused the connection'),
    })
  })

  test.each(['end', 'resetAndDestroy'] as const)('before the answer: %s', async (how) => {
    const { url } = await startRawReceiver((socket) => socket[how]())
    expect(await post(url)).toMatchObject({ status: null, errorCode: 'connection_reset' })
  })

  test.each([
    ['closed', 'end'],
    ['reset', 'resetAndDestroy'],
  ] as const)('a 2xx %s within its body is no success: it may not have been meant', async (_, how) => {
    const { url } = await startRawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhalf', () => socket[how]())
    })
    expect(await post(url)).toMatchObject({ ok: false, errorCode: 'connection_reset' })
  })

  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['a status below 100', 'HTTP/1.1 099 X\r\n\r\n'],
    ['two different lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['an upgrade nobody asked for', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    ['headers of more than 16 KiB', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])('an answer that is not HTTP/1.1: %s', async (_, answer) => {
    const { url } = await startRawReceiver((socket) => socket.end(answer))
    expect(await post(url)).toMatchObject({ ok: false, errorCode: 'invalid_response' })
  })

  test('a URL that breaks the rules is not called at all', async () => {
    const { port, counts } = await startReceiver((_request, response) => response.end())
    expect(await post(`http://me:pw@localhost:${port}/`)).toMatchObject({
      errorCode: 'invalid_url',
      hint: expect.stringContaining('user name'),
    })
    const production = createSender({ environment: 'production', allowPrivateNetwork: true })
    const outcome = await production.send({ url: `http://localhost:${port}/`, headers: {}, body: '{}' })
    expect(outcome).toMatchObject({ errorCode: 'invalid_url', hint: expect.stringContaining('https') })
    await production.close()
    expect(counts.connections).toBe(0)
  })
})
