import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { sql as raw } from 'kysely'
import { type Deployment, deploy } from '../deployment.ts'
import { LEAD } from '../lead.ts'
import type { Bench } from '../load/load.ts'
import type { Row } from '../rows.ts'
import type { BenchProcess } from '../servers.ts'

const OPEN = 50_000
const LOAD_SECONDS = 10

/**
 * Memory of API and worker: idle, creating leads flat out, and with 50,000 workflows open, whose webhooks wait for
 * an endpoint; the floor is a bare API and a bare worker, idle.
 */
export async function memory({ servers, load }: Bench): Promise<Row[]> {
  const deployment = await deploy(servers)
  const [api, worker, floorApi, floorWorker] = await Promise.all([
    deployment.startApi(),
    deployment.startWorker(),
    deployment.startFloorApi(),
    deployment.startFloorWorker(),
  ])
  const rows: Row[] = []
  const note = (when: string) =>
    rows.push(
      row(`memory of the API, ${when}`, floorApi, api),
      row(`memory of the worker, ${when}`, floorWorker, worker),
    )
  note('idle')
  const { headers } = deployment
  const job = { port: api.port, path: '/v1/create-lead', headers, bodies: [JSON.stringify(LEAD)] }
  await load({ ...job, seconds: LOAD_SECONDS })
  note('after creating leads flat out')
  for (let leads = await count(deployment); leads < OPEN; leads = await count(deployment)) {
    const rate = 100
    await load({ ...job, rate, seconds: Math.min(LOAD_SECONDS, (OPEN - leads) / rate) })
  }
  while ((await count(deployment, 'workflow_started_at')) < OPEN) await delay(1000)
  note(`${OPEN.toLocaleString('en')} workflows open`)
  await Promise.all([api, worker, floorApi, floorWorker].map((one) => one.stop()))
  await deployment.close()
  return rows
}

function row(work: string, floor: BenchProcess, service: BenchProcess): Row {
  return { work, unit: 'MiB', floor: [residentMiB(floor.pid)], service: [residentMiB(service.pid)] }
}

/** NaN where there is no /proc. */
export function residentMiB(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}

async function count({ sql }: Deployment, column: 'id' | 'workflow_started_at' = 'id'): Promise<number> {
  const { rows } = await raw<{ count: number }>`
    select count(${raw.ref(column)})::int as count from leads`.execute(sql)
  return rows[0]?.count ?? 0
}
