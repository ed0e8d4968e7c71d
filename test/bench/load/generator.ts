import { setTimeout as delay } from 'node:timers/promises'
import { type Connection, openConnection } from './connection.ts'
import type { LoadJob, LoadResult } from './job.ts'
import { percentile } from '../numbers.ts'

/** A process of its own: what it measures must not wait for its parent's work, nor the other way round. */
process.on('message', (job: LoadJob) => void run(job).then((result) => process.send?.(result)))
process.once('SIGTERM', () => process.disconnect())
process.send?.({ type: 'ready' })

/** How long the last answers may take. */
const LAST_ANSWERS_MS = 5000

async function run(job: LoadJob): Promise<LoadResult> {
  const connections = await Promise.all(
    Array.from({ length: job.connections }, () => openConnection(job.port)),
  )
  const latencies: number[] = []
  const start = performance.now()
  const failed =
    job.rate === undefined
      ? await flatOut(job, connections, latencies)
      : await onDates(job, job.rate, connections, latencies)
  const seconds = (performance.now() - start) / 1000
  for (const connection of connections) connection.close()
  return {
    perSecond: latencies.length / seconds,
    failed,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  }
}

async function flatOut(job: LoadJob, connections: Connection[], latencies: number[]): Promise<number> {
  const request = requests(job)
  const end = performance.now() + job.seconds * 1000
  let failed = 0
  const work = (connection: Connection) =>
    new Promise<void>((resolve) => {
      const next = () => {
        const began = performance.now()
        if (began >= end) return resolve()
        connection.send(request(), (status) => {
          if (status === 200) latencies.push(performance.now() - began)
          else failed += 1
          if (status === 0) resolve()
          else next()
        })
      }
      next()
    })
  await Promise.all(connections.map(work))
  return failed
}

async function onDates(
  job: LoadJob,
  rate: number,
  connections: Connection[],
  latencies: number[],
): Promise<number> {
  const request = requests(job)
  const total = Math.floor(job.seconds * rate)
  const idle = [...connections]
  const waiting: number[] = []
  const start = performance.now()
  let failed = 0
  const dispatch = () => {
    while (waiting.length > 0 && idle.length > 0) {
      const connection = idle.pop() as Connection
      const date = waiting.shift() as number
      connection.send(request(), (status) => {
        if (status === 200) latencies.push(performance.now() - date)
        else failed += 1
        idle.push(connection)
        dispatch()
      })
    }
  }
  for (let due = 0; due < total; await delay(1)) {
    const now = performance.now()
    for (; due < total && start + (due * 1000) / rate <= now; due++) waiting.push(start + (due * 1000) / rate)
    dispatch()
  }
  const last = performance.now() + LAST_ANSWERS_MS
  while (latencies.length + failed < total && performance.now() < last) await delay(5)
  return total - latencies.length
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
