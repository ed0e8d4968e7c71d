import { gzipSync } from 'node:zlib'
import type { Socket } from 'node:net'
import { afterAll, describe, expect, test } from '@jest/globals'
import { createSender } from '../../src/webhooks/send.ts'
import { startRawReceiver, startReceiver } from './receiver.ts'

const TOTAL_MS = 1500
/** What a busy machine may add, far below the 15 s of a request's limit. */
const SLACK_MS = 5000
const OK = 'HTTP/1.1 200 OK\r\n'

const sender = createSender({
  environment: 'sandbox',
  allowPrivateNetwork: true,
  timeoutMs: TOTAL_MS,
})
/** For what must succeed: a busy machine may take its time. */
const patient = createSender({ environment: 'sandbox', allowPrivateNetwork: true })
afterAll(() => Promise.all([sender.close(), patient.close()]))

const post = (url: string, by = sender) => by.send({ url, headers: {}, body: '{}' })

/** Writes `piece` every few milliseconds for as long as the connection lasts. */
function drip(socket: Socket, head: string, piece: string) {
  socket.write(head)
  const timer = setInterval(() => socket.write(piece), 5)
  socket.on('close', () => clearInterval(timer))
}

describe('an attempt ends in time', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['never answers', () => {}],
    ['sends its body a byte at a time', (socket) => drip(socket, `${OK}content-length: 9000\r\n\r\n`, 'x')],
  ])('when the endpoint %s', async (_, answer) => {
    const closed = Promise.withResolvers<void>()
    const { url } = await startRawReceiver((socket) => {
      socket.on('close', () => closed.resolve())
      answer(socket)
    })
    const outcome = await post(url)
    expect(outcome).toMatchObject({
      ok: false,
      errorCode: 'timeout',
      hint: expect.stringContaining('in time'),
    })
    expect(outcome.durationMs).toBeGreaterThanOrEqual(TOTAL_MS - 20)
    expect(outcome.durationMs).toBeLessThan(TOTAL_MS + SLACK_MS)
    await closed.promise
  })

  test('when the time is up before it connects, and nothing is sent afterwards', async () => {
    const { url, received } = await startReceiver((_request, response) => response.end())
    const found = Promise.withResolvers<void>()
    const slow = createSender({
      environment: 'sandbox',
      allowPrivateNetwork: true,
      timeoutMs: 50,
      lookup: (_hostname, _options, callback) =>
        void found.promise.then(() => callback(null, [{ address: '127.0.0.1', family: 4 }])),
    })
    expect(await slow.send({ url, headers: {}, body: '{}' })).toMatchObject({
      errorCode: 'timeout',
      hint: expect.stringContaining('could not connect'),
    })
    found.resolve()
    await slow.close()
    expect(received).toHaveLength(0)
  })

  test('and one endpoint that hangs holds up no other, not even at the same origin', async () => {
    const released = Promise.withResolvers<void>()
    const { url } = await startReceiver((request, response) => {
      if (request.url === '/hang') void released.promise.then(() => response.end())
      else response.end()
    })
    const stuck = Array.from({ length: 50 }, () => post(url.replace('/hook', '/hang'), patient))
    const ended = Promise.race(stuck).then(() => 'an attempt that hangs ended first')
    expect(await Promise.race([post(url, patient), ended])).toMatchObject({ ok: true })
    released.resolve()
    await Promise.all(stuck)
  })
})

describe('an answer costs no more than 64 KiB', () => {
  test('when its body never ends: the rest is not read and the 2xx counts', async () => {
    let sent = 0
    const closed = Promise.withResolvers<void>()
    const { url } = await startRawReceiver((socket) => {
      const chunk = Buffer.alloc(16 * 1024, 'x')
      const flood = () => {
        while (!socket.destroyed && socket.write(chunk)) sent += chunk.length
      }
      socket.on('drain', flood).on('close', () => closed.resolve())
      socket.write(`${OK}\r\n`)
      flood()
    })
    const outcome = await post(url, patient)
    expect(outcome).toMatchObject({ ok: true, status: 200 })
    expect(outcome.responseBody).toBe(`${'x'.repeat(4096)}… (cut)`)
    await closed.promise
    // At most what the kernel's buffers of both sides hold.
    expect(sent).toBeLessThan(16 * 1024 * 1024)
  })

  test('when it is a compressed bomb: nothing is decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const { url } = await startReceiver((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length }).end(bomb)
    })
    const before = process.memoryUsage().rss
    expect(await post(url, patient)).toMatchObject({ ok: true, responseBody: '(gzip, not decompressed)' })
    expect(process.memoryUsage().rss - before).toBeLessThan(32 * 1024 * 1024)
  })
})
