import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { Sql } from './core/database/orm.ts'
import { unstarted } from './core/leads/worker.ts'
import type { Referrals } from './core/leads/workflows/referrals.ts'
import { sweep } from './core/temporal/sweep.ts'

interface Options {
  config: Pick<Config<'worker'>, 'STARTS_IN_FLIGHT'>
  log: Logger
  sql: Sql
  referrals: Referrals
  signal: AbortSignal
}

/** Starts what was left out, until `signal` aborts. */
export async function keepSwept({ config, log, sql, referrals, signal }: Options): Promise<void> {
  await sweep({
    sql,
    swept: [unstarted(referrals, config.STARTS_IN_FLIGHT)],
    log,
    signal,
  })
}
