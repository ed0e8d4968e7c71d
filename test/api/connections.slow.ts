import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { prepareService, type Service } from '../support/service.ts'
import { scrape } from '../support/scrape.ts'
import { type Peer, silentPeers } from '../support/silent-peers.ts'
import { until } from '../support/until.ts'
import { makeCertificate } from '../webhooks/certificate.ts'
import { prepareApi } from './api.ts'

const { cert, key } = makeCertificate({ host: 'localhost' })
const SHORT_MS = 1000
const LONG_MS = 60_000

function everyLimit(ms: number) {
  return { handshakeMs: ms, requestMs: ms, silenceMs: ms, keepAliveMs: ms }
}

async function listen(tls: boolean, limits: object) {
  const api = await prepareApi({ limits, ...(tls && { tls: { cert, key } }) })
  await api.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = api.app.server.address() as AddressInfo
  const connections = promisify(api.app.server.getConnections.bind(api.app.server))
  /** Waits until there are `count` connections, or ten times as long as that should take. Returns how many there are. */
  const downTo = async (count: number) => {
    const end = Date.now() + 10 * SHORT_MS
    while ((await connections()) > count && Date.now() < end) await delay(20)
    return connections()
  }
  const peer: Peer = { port, ...(tls && { ca: cert }) }
  return { ...api, partner: await api.addPartner(), connections, downTo, peer, tcp: { port } }
}

const post = (...lines: string[]) => ['POST /v1/get-lead HTTP/1.1', 'Host: x', ...lines].join('\r\n')
const ping = 'GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n'
/** What peers send before they fall silent. */
const beginnings = {
  nothing: '',
  halfOfTheHeaders: post('Content-Type: appl'),
  halfOfARefusedBody: post('Content-Length: 9', '', '{'),
  connect: 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n',
  brokenHttp: 'hello\r\n\r\n',
  tooLongHeaders: post(`X: ${'x'.repeat(20_000)}`, '', ''),
  aWholeRequest: ping,
}
const halfOfTheBody = (ownKey: string) =>
  post(`Authorization: Service-Key ${ownKey}`, 'Content-Type: application/json', 'Content-Length: 9', '', '{')

describe.each([
  ['plain', false],
  ['with TLS', true],
])('connections %s', (_, tls) => {
  it('are given back by 500 peers that fall silent, whatever they have sent', async () => {
    const { partner, connections, downTo, peer, tcp } = await listen(tls, everyLimit(SHORT_MS))
    const all = [...Object.values(beginnings), halfOfTheBody(partner.key)]
    // a few at once: handshakes have a time limit too
    for (const bytes of [...all, ...all, ...all, ...all])
      for (const count of [5, 5, 4]) await silentPeers(count, peer, bytes)
    // half a handshake with TLS, invalid HTTP without
    await silentPeers(56, tcp, '\u0016\u0003\u0001\u0002\u0000\u0001')
    expect(await connections()).toBeGreaterThan(0)
    expect(await downTo(0)).toBe(0)
  })

  it('are given back by peers that send their request a byte at a time', async () => {
    const { partner, downTo, peer } = await listen(tls, { ...everyLimit(LONG_MS), requestMs: SHORT_MS })
    const head = await silentPeers(5, peer, beginnings.halfOfTheHeaders)
    const body = await silentPeers(5, peer, halfOfTheBody(partner.key).replace('Length: 9', 'Length: 9999'))
    const trickle = setInterval(() => [...head, ...body].forEach((socket) => socket.write('x')), 50)
    const left = await downTo(0)
    clearInterval(trickle)
    expect(left).toBe(0)
  })

  it('are given back by a peer that does not read its answers', async () => {
    const { downTo, peer } = await listen(tls, { ...everyLimit(LONG_MS), silenceMs: SHORT_MS })
    await silentPeers(3, peer, 'GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500))
    expect(await downTo(0)).toBe(0)
  })

  it('do not keep the API from closing', async () => {
    const { app, partner, connections, peer, tcp } = await listen(tls, {
      ...everyLimit(LONG_MS),
      stopMs: 500,
    })
    const all = [...Object.values(beginnings), halfOfTheBody(partner.key)]
    await Promise.all(all.map((bytes) => silentPeers(20, peer, bytes)))
    await silentPeers(20, tcp)
    const closed = app.close().then(() => 'closed')
    expect(await Promise.race([closed, delay(30_000, 'open', { ref: false })])).toBe('closed')
    expect(await connections()).toBe(0)
  })
})

describe.each([
  ['plain', false],
  ['with TLS', true],
])('a port %s that closes', (_, tls) => {
  it('answers all who have connected: it resets none that the kernel still holds for it', async () => {
    const { app, peer } = await listen(tls, everyLimit(LONG_MS))
    // the event loop accepts one in each of its turns
    const asked = Array.from({ length: 100 }, () => ask(peer))
    const answers = Promise.all(asked.map(({ answer }) => answer))
    await app.close()
    expect(new Set(await answers)).toEqual(new Set(['HTTP/1.1 200 OK, close']))
  })

  it('answers what was sent on connections that were kept, and closes those that are silent', async () => {
    const { app, peer } = await listen(tls, everyLimit(LONG_MS))
    const [silent] = await silentPeers(1, peer)
    const kept = Array.from({ length: 20 }, () => ask(peer))
    for (const { answer } of kept) expect(await answer).toBe('HTTP/1.1 200 OK, keep-alive')
    const again = kept.map((connection) => connection.again())
    await app.close()
    expect(new Set(await Promise.all(again))).toEqual(new Set(['HTTP/1.1 200 OK, close']))
    silent?.resume()
    await once(silent!, 'end')
  })
})

/** A connection that asks for a ping as soon as it is there: the first line of the answer, and what becomes of it. */
function ask({ port, ca }: Peer) {
  const options = { port, host: '127.0.0.1', servername: 'localhost' }
  const socket = ca === undefined ? connect(options) : connectTls({ ...options, ca })
  const answerOf = async () => {
    socket.write(ping)
    let received = ''
    const ended = once(socket, 'end').then(() => 'ended')
    while (!received.includes('\r\n\r\n')) {
      const chunk = await Promise.race([once(socket, 'data'), ended])
      if (chunk === 'ended') break
      received += String(chunk)
    }
    const [line] = received.split('\r\n', 1)
    return `${line}, ${/^connection: (.+)\r$/im.exec(received)?.[1]}`
  }
  const failed = (error: unknown) => (error as Error).message
  return { answer: answerOf().catch(failed), again: () => answerOf().catch(failed) }
}

describe('MAX_CONNECTIONS', () => {
  it('closes what is more, unanswered, and takes others once there is room', async () => {
    const { app, connections, downTo, peer } = await listen(false, {
      ...everyLimit(LONG_MS),
      maxConnections: 2,
    })
    const [first] = await silentPeers(2, peer)
    const dropped = once(app.server, 'drop')
    const [third] = await silentPeers(1, peer)
    await dropped
    third?.resume()
    await once(third!, 'end')
    expect([third?.bytesRead, await connections()]).toEqual([0, 2])
    first?.destroy()
    expect(await downTo(1)).toBe(1)
    expect((await fetch(`http://127.0.0.1:${peer.port}/v1/ping`)).status).toBe(200)
  })
})

describe('an API process', () => {
  let service: Service
  beforeAll(async () => {
    service = await prepareService({ METRICS_PORT: '0', MAX_CONNECTIONS: '200' })
  })

  it('counts the connections that it refuses for its metrics', async () => {
    const api = await service.startApi()
    await silentPeers(203, { port: api.port! })
    const refused = async () => (await scrape(api)).value('http_connections_refused_total') ?? 0
    await until(async () => (await refused()) >= 3)
    expect(await refused()).toBe(3)
  })

  it('ends on SIGTERM though connections are silent, those of its metrics too', async () => {
    const api = await service.startApi()
    for (const port of [api.port!, api.metricsPort!]) {
      await Promise.all(Object.values(beginnings).map((bytes) => silentPeers(10, { port }, bytes)))
    }
    const stopped = api.stop()
    expect(await Promise.race([stopped, delay(9000, 'runs', { ref: false })])).toBe(0)
  })

  it('goes on when peers reset their connections after CONNECT', async () => {
    const { port } = await service.startApi()
    for (let count = 0; count < 50; count += 1) {
      const socket = connect(port!, '127.0.0.1')
      await once(socket, 'connect')
      await new Promise((resolve) => socket.write(beginnings.connect, resolve))
      socket.resetAndDestroy()
    }
    const answer = await fetch(`http://127.0.0.1:${port}/v1/ping`).catch(() => undefined)
    expect(answer?.status).toBe(200)
  })
})
