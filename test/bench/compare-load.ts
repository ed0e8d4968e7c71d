import { once } from 'node:events'
import type { LoadJob, LoadResult } from './generator.ts'
import type { BenchProcess, Servers } from './servers.ts'
import { figures, inTurn, median, type Pair, type Row } from './table.ts'

const CONNECTIONS = 32
/** Many short rounds, so that other load on the machine hits floor and service alike. */
const ROUNDS = 4
const PACED_ROUNDS = 2
const SECONDS = 1.5
/** Until V8 has compiled the hot code: before that, a request takes the service half as long again. */
const WARM_UP_SECONDS = 5

export interface Target extends Pick<LoadJob, 'path' | 'bodies'> {
  api: BenchProcess
  /** Of a partner of the service; the floor needs none. */
  key?: string
  /** Runs after each measurement, so that what it left behind does not burden the next. */
  settle?: () => Promise<void>
}

interface Comparison extends Pair<Target> {
  work: string
  /** The least share of the floor's rate. */
  aim: number
  /** The largest multiple of the floor's p99 at half of the service's rate. */
  p99?: number
}

/** Both flat out in turn, then both at half of what the service took. */
export async function compareLoad(
  servers: Servers,
  { work, aim, p99, ...sides }: Comparison,
): Promise<Row[]> {
  const generator = await servers.start(`${import.meta.dirname}/generator.ts`)
  const measure = async (target: Target, seconds: number, rate?: number) => {
    const { api, path, bodies, key } = target
    const headers: Record<string, string> = key === undefined ? {} : { authorization: `Service-Key ${key}` }
    const job: LoadJob = { port: api.port, path, headers, bodies, connections: CONNECTIONS, seconds }
    const used = servers.cpuSeconds(api)
    generator.process.send({ ...job, rate })
    const [result] = (await once(generator.process, 'message')) as [LoadResult]
    const cpuMs = ((servers.cpuSeconds(api) - used) * 1000) / result.answered
    await target.settle?.()
    if (result.failed > 0) throw new Error(`${work}: ${result.failed} requests failed`)
    return { ...result, cpuMs }
  }
  await inTurn(sides, 1, (target) => measure(target, WARM_UP_SECONDS))
  const flatOut = await inTurn(sides, ROUNDS, (target) => measure(target, SECONDS))
  const rate = Math.round(median(flatOut.service.map(({ perSecond }) => perSecond)) / 2)
  const paced = await inTurn(sides, PACED_ROUNDS, (target) => measure(target, SECONDS, rate))
  await generator.stop()
  return [
    { work, unit: '/s', ...figures(flatOut, ({ perSecond }) => perSecond), aim: { from: aim } },
    { work: `${work}, CPU of API and PostgreSQL`, unit: 'ms', ...figures(flatOut, ({ cpuMs }) => cpuMs) },
    {
      work: `${work}, p99 at ${rate}/s`,
      unit: 'ms',
      ...figures(paced, (result) => result.p99),
      ...(p99 !== undefined && { aim: { to: p99 } }),
    },
  ]
}
