import type { Logger } from 'pino'
import type { Sql } from '../database/orm.ts'
import { keepTurning, type LoopOptions } from '../temporal/keep-turning.ts'
import { forgetMailedAddresses } from './statements/mailed-addresses.ts'
import { MINUTE_MS } from '../values/durations.ts'

const INTERVAL_MS = 5 * MINUTE_MS
/** Mails in five minutes are fewer. */
const MOST_FORGOTTEN = 50_000

interface Options extends LoopOptions {
  sql: Sql
  log: Logger
}

/**
 * Forgets every five minutes which addresses were mailed a day ago, until `signal` aborts. It is no class of retention, which
 * staff set in days: for a day the addresses are counted, and no longer.
 */
export async function keepForgetting(options: Options): Promise<void> {
  const { sql, log } = options
  const loop = {
    name: 'forgetting',
    everyMs: INTERVAL_MS,
    turn: () => forgetMailedAddresses(sql, MOST_FORGOTTEN),
    onFailure: (err: unknown) =>
      log.warn(
        { err },
        'cannot forget which addresses were mailed a day ago; trying again every five minutes',
      ),
  }
  await keepTurning(loop, options)
}
