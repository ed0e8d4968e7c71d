import { once } from 'node:events'
import type { Row } from '../rows.ts'
import { median } from '../numbers.ts'
import { connect } from '../../../src/database/orm.ts'
import { sqlOf } from '../../../src/database/sql.ts'
import type { BenchProcess, Started } from '../servers.ts'
import { checkpointsOf } from '../stalls.ts'
import type { LoadJob, LoadResult } from './job.ts'

const CONNECTIONS = 32
/** Many and short: floor and service see the same neighbours then. */
const ROUNDS = 4
const PACED_ROUNDS = 2
const SECONDS = 1.5
/** Until V8 has compiled what is used: before, a request takes the service half as long again. */
const WARM_UP_SECONDS = 5

export interface Target extends Pick<LoadJob, 'path'> {
  api: BenchProcess
  /** Its own requests, if not those of the comparison. */
  bodies?: string[]
  headers?: Record<string, string>
  /** Runs after each measurement, so that what it left behind does not burden the next. */
  settle?: () => Promise<void>
}

/** What every case is given. */
export interface Bench {
  servers: Started
  load: Load
}

export type Load = (job: Omit<LoadJob, 'connections'>) => Promise<LoadResult>

export async function startLoad(servers: Started): Promise<Load> {
  const generator: BenchProcess = await servers.start('load', `${import.meta.dirname}/generator.ts`, {})
  return async (job) => {
    generator.process.send({ ...job, connections: CONNECTIONS })
    const [result] = (await once(generator.process, 'message')) as [LoadResult]
    return result
  }
}

interface Comparison {
  floor: Target
  /** By what is added to the work's name. */
  services: Record<string, Target>
  bodies: string[]
}

/** All flat out in turn, then floor and service at half of what the service took. */
export async function compareLoad(
  { servers, load }: Bench,
  work: string,
  { floor, services, bodies }: Comparison,
): Promise<Row[]> {
  const orm = await connect(servers.databaseUrl)
  const checkpoints = () => checkpointsOf(sqlOf(orm))
  const measure = async (target: Target, rate?: number, seconds = SECONDS) => {
    const { settle, api, path, headers = {} } = target
    const before = await checkpoints()
    const used = servers.cpuSeconds(api.pid)
    const job = { port: api.port, path, headers, bodies: target.bodies ?? bodies, seconds }
    const result = await load(rate === undefined ? job : { ...job, rate })
    const cpuMs = ((servers.cpuSeconds(api.pid) - used) * 1000) / (result.perSecond * seconds)
    const made = (await checkpoints()) - before
    await settle?.()
    if (result.failed > 0) throw new Error(`${work}: ${result.failed} requests failed`)
    return { ...result, cpuMs, checkpoints: made }
  }
  const flatOut = await alternate(ROUNDS, { floor, ...services }, async (target, round) => {
    if (round === 0) await measure(target, undefined, WARM_UP_SECONDS)
    return measure(target)
  })
  const rows: Row[] = []
  for (const [name, service] of Object.entries(services)) {
    const rate = Math.round(median((flatOut[name] ?? []).map(({ perSecond }) => perSecond)) / 2)
    const paced = await alternate(PACED_ROUNDS, { floor, [name]: service }, (target) => measure(target, rate))
    const row = (
      title: string,
      unit: string,
      results: Record<string, Measured[]>,
      key: keyof Measured,
    ): Row => ({
      work: `${work}${name}${title}`,
      unit,
      floor: (results.floor ?? []).map((result) => result[key]),
      service: (results[name] ?? []).map((result) => result[key]),
    })
    rows.push(
      {
        ...row('', '/s', flatOut, 'perSecond'),
        aim: { ratioFrom: aims[work] ?? 0.5 },
        note: `checkpoints in each round: floor ${listOf(flatOut.floor)}, service ${listOf(flatOut[name])}`,
      },
      row(', CPU of API and PostgreSQL', 'ms', flatOut, 'cpuMs'),
      row(`, p50 at ${rate}/s`, 'ms', paced, 'p50'),
      row(`, p99 at ${rate}/s`, 'ms', paced, 'p99'),
    )
  }
  await orm.close()
  return rows
}

const listOf = (results: Measured[] = []) => results.map(({ checkpoints }) => checkpoints).join(' ')

/** Of the floor's rate. */
const aims: Record<string, number> = {
  'create-lead': 0.6,
  'get-lead': 0.7,
  'get-events of 10': 0.7,
  'get-events of 1,000': 0.7,
  'update-partner-info': 0.65,
}

type Measured = LoadResult & {
  cpuMs: number
  /** A checkpoint keeps the disk busy, for which every commit waits. */
  checkpoints: number
}

async function alternate<Result>(
  rounds: number,
  targets: Record<string, Target>,
  measure: (target: Target, round: number) => Promise<Result>,
): Promise<Record<string, Result[]>> {
  const results: Record<string, Result[]> = {}
  for (let round = 0; round < rounds; round++) {
    for (const [name, target] of Object.entries(targets)) {
      const result = await measure(target, round)
      results[name] = [...(results[name] ?? []), result]
    }
  }
  return results
}
