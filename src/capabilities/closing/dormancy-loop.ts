import type { Logger } from 'pino'
import { alone, type Fence } from '../../core/database/locks/alone.ts'
import type { Sql } from '../../core/database/orm.ts'
import { keepTurning, type LoopOptions } from '../../core/temporal/keep-turning.ts'
import type { Environment } from '../../core/values/environment.ts'
import { HOUR_MS, MINUTE_MS } from '../../core/values/durations.ts'
import {
  cancelKept,
  type Digest,
  digestsToSend,
  findDormant,
  makeDigest,
  markDigestSent,
  partnersToLookThrough,
  partnersWithTerms,
} from './statements/dormancy.ts'

interface Options extends LoopOptions {
  sql: Sql
  config: { ENVIRONMENT: Environment; DORMANT_AFTER_DAYS: number }
  /** Tells a partner, and staff. @returns whether whom it is for could be told. */
  tellOfDormancy: (digest: Digest) => Promise<boolean>
  log: Pick<Logger, 'info' | 'warn'>
}

/**
 * Has leads closed in which nothing happens, until `signal` aborts: by one process at a time. In production, it looks each
 * partner's leads through once a month, and their dates begin with the email about them. In a sandbox, it looks every
 * minute, because a lead's clock may have been moved, and emails nobody.
 */
export async function keepDormancy(options: Options): Promise<void> {
  const { sql, config, log } = options
  const isSandbox = config.ENVIRONMENT === 'sandbox'
  const loop = {
    name: 'dormancy',
    everyMs: isSandbox ? MINUTE_MS : HOUR_MS,
    againMs: MINUTE_MS,
    turn: () =>
      alone(sql, 'dormancy', (fence) =>
        isSandbox ? lookNow(options) : lookOnceAMonth({ ...options, fence }),
      ),
    onFailure: (err: unknown) =>
      log.warn({ err }, 'cannot look for leads in which nothing happens; trying again every minute'),
  }
  await keepTurning(loop, options)
}

/** In a sandbox. @returns how many were found. */
export async function lookNow({
  sql,
  config,
  log,
}: Pick<Options, 'sql' | 'config' | 'log'>): Promise<number> {
  await cancelKept(sql, config.DORMANT_AFTER_DAYS)
  let found = 0
  for (const terms of await partnersWithTerms(sql, config.DORMANT_AFTER_DAYS))
    found += await findDormant(sql, terms, { isTold: true })
  if (found > 0) log.info({ leads: found }, 'nothing happens in leads: they are going to be closed')
  return found
}

/** In production. @returns how many partners were told. */
export async function lookOnceAMonth({
  sql,
  config,
  tellOfDormancy,
  fence,
}: Pick<Options, 'sql' | 'config' | 'tellOfDormancy'> & { fence: Fence }): Promise<number> {
  await cancelKept(sql, config.DORMANT_AFTER_DAYS)
  for (const terms of await partnersToLookThrough(sql, config.DORMANT_AFTER_DAYS))
    await makeDigest(sql, terms)
  let told = 0
  for (const digest of await digestsToSend(sql)) {
    // its date would be too early after a pause
    await fence(sql)
    // all of them were kept meanwhile
    if (digest.leadIds.length > 0 && !(await tellOfDormancy(digest))) continue
    await markDigestSent(sql, digest, fence)
    told += 1
  }
  return told
}
