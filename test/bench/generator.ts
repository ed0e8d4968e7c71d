import { setTimeout as delay } from 'node:timers/promises'
import { openConnection } from './connection.ts'
import { percentile } from './table.ts'

/** What the load generator is asked to send, each body in its turn. */
export interface LoadJob {
  port: number
  path: string
  headers: Record<string, string>
  bodies: string[]
  connections: number
  seconds: number
  /**
   * Requests a second, sent on their dates whatever the answers do, each latency counted from its date; without
   * it each connection sends as soon as it has its answer.
   */
  rate?: number
}

export interface LoadResult {
  answered: number
  /** Answers other than 200, and requests without one. */
  failed: number
  perSecond: number
  p99: number
}

/** How long the last answers may take. */
const LAST_ANSWERS_MS = 5000

/** A process of its own: what it measures must not wait for its parent's work, nor the other way round. */
process.on('message', (job: LoadJob) => void run(job).then((result) => process.send?.(result)))
process.send?.({ type: 'ready' })

async function run(job: LoadJob): Promise<LoadResult> {
  const connections = await Promise.all(
    Array.from({ length: job.connections }, () => openConnection(job.port)),
  )
  const idle = [...connections]
  const latencies: number[] = []
  const request = requests(job)
  let sent = 0
  const start = performance.now()
  const end = start + job.seconds * 1000
  const dispatch = () => {
    while (idle.length > 0) {
      const now = performance.now()
      const date = job.rate === undefined ? now : start + (sent * 1000) / job.rate
      const connection = date <= now && date < end ? idle.pop() : undefined
      if (connection === undefined) return
      sent += 1
      connection.send(request(), (status) => {
        if (status === 0) return
        if (status === 200) latencies.push(performance.now() - date)
        idle.push(connection)
        dispatch()
      })
    }
  }
  const isOver = () => performance.now() >= end && idle.length === connections.length
  for (; !isOver() && performance.now() < end + LAST_ANSWERS_MS; await delay(1)) dispatch()
  const seconds = (performance.now() - start) / 1000
  for (const connection of connections) connection.close()
  const { length: answered } = latencies
  return {
    answered,
    failed: sent - answered,
    perSecond: answered / seconds,
    p99: percentile(latencies, 0.99),
  }
}

function requests({ path, headers, bodies }: LoadJob): () => Buffer {
  const lines = Object.entries({ host: 'bench', 'content-type': 'application/json', ...headers })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const all = bodies.map((body) =>
    Buffer.from(`POST ${path} HTTP/1.1\r\n${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
  )
  let turn = 0
  return () => all[turn++ % all.length] as Buffer
}
