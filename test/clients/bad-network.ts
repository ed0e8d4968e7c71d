import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { randomOf } from '../chaos/random.ts'
import { atEnd } from '../support/at-end.ts'

/**
 * - `refused`: the request goes nowhere
 * - `lost`: it is carried out, and the answer does not come; `cut`: half of it does; `late`: it comes after `lateMs`
 * - `repeated`: it is carried out twice, at the same time
 * - `bad_gateway`, `unavailable`: a proxy answers; the latter says when to come back
 */
const faults = ['refused', 'lost', 'cut', 'late', 'repeated', 'bad_gateway', 'unavailable'] as const
export type Fault = (typeof faults)[number]

/** A request meets no more in a row, so that a test ends. */
const MOST_IN_A_ROW = 2
const OF_A_CONNECTION = ['host', 'connection', 'keep-alive', 'content-length', 'transfer-encoding']

interface BadNetworkOptions {
  /** Its faults follow from it. */
  seed: number
  /** Of the requests that meet a fault. */
  share: number
  /** Longer than the client waits. */
  lateMs: number
  /** All by default. */
  kinds?: readonly Fault[]
}

/** A proxy in front of an HTTP server that drops, delays and repeats. */
export async function startBadNetwork(origin: string, options: BadNetworkOptions) {
  const { seed, lateMs, kinds = faults } = options
  let { share } = options
  const random = randomOf(seed, 'network')
  const met = new Map<string, number>()
  const count: Record<Fault, number> = {
    refused: 0,
    lost: 0,
    cut: 0,
    late: 0,
    repeated: 0,
    bad_gateway: 0,
    unavailable: 0,
  }

  function faultOf(request: string): Fault | undefined {
    const inARow = met.get(request) ?? 0
    if (inARow >= MOST_IN_A_ROW || !random.chance(share)) {
      met.delete(request)
      return undefined
    }
    met.set(request, inARow + 1)
    const fault = kinds[random.between(0, kinds.length - 1)] ?? 'lost'
    count[fault] += 1
    return fault
  }

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const fault = faultOf(`${request.url} ${body.toString()}`)
    if (fault === 'refused') return void request.socket.destroy()
    if (fault === 'bad_gateway') return void response.writeHead(502).end('<html>Bad Gateway</html>')
    if (fault === 'unavailable') return void response.writeHead(503, { 'retry-after': '0' }).end()
    const send = () => forward(`${origin}${request.url}`, request, body)
    const [answer] = await Promise.all(fault === 'repeated' ? [send(), send()] : [send()])
    if (answer === undefined) return void response.writeHead(502).end('<html>Bad Gateway</html>')
    if (fault === 'late') await delay(lateMs)
    if (fault === 'lost') return void request.socket.destroy()
    response.writeHead(answer.status, { ...answer.headers, 'content-length': answer.body.length })
    if (fault !== 'cut') return void response.end(answer.body)
    response.write(answer.body.subarray(0, answer.body.length / 2), () => request.socket.destroy())
  }

  const server = createServer((request, response) => void pass(request, response).catch(() => {}))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count,
    setShare: (to: number) => void (share = to),
  }
}

/** @returns undefined if there is nobody. */
async function forward(url: string, { method, headers }: IncomingMessage, body: Buffer) {
  const passedOn = Object.entries(headers).filter(([name]) => !OF_A_CONNECTION.includes(name))
  try {
    const answer = await fetch(url, {
      method: method ?? 'GET',
      headers: passedOn as [string, string][],
      ...(method !== 'GET' && { body }),
    })
    const kept = [...answer.headers].filter(([name]) => !OF_A_CONNECTION.includes(name))
    return {
      status: answer.status,
      headers: Object.fromEntries(kept),
      body: Buffer.from(await answer.arrayBuffer()),
    }
  } catch {
    return undefined
  }
}
