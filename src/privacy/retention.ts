import { setTimeout as delay } from 'node:timers/promises'
import { type RawBuilder, sql as raw } from 'kysely'
import type { Config } from '../config.ts'
import { clockAheadSeconds, pages, type Sql } from '../database/sql.ts'
import { DAY_MS, HOUR_MS, uuidBeginning } from '../values.ts'
import { eraseLeads } from './erase.ts'

/** How many days data is kept; `null` is forever. */
type Limits = Pick<Config<'worker'>, 'RETENTION_LEADS_DAYS' | 'RETENTION_ATTEMPTS_DAYS'>

interface Retained {
  table: string
  /** The column from which the age counts. */
  at: string
  /** The setting that limits the age, or the limit in days. */
  days: keyof Limits | number
  /** Which rows; all by default. */
  only?: RawBuilder<unknown>
  /** Removes them in batches, and yields the number of rows of each; by default, rows are deleted. */
  remove?: (old: Old) => AsyncGenerator<number>
}

interface Old {
  sql: Sql
  days: number
  each: Retained
  /** The erasure log. */
  logFile: string | undefined
}

/** What is removed when it is old, in this order. The audit is kept for good. */
export const retained = {
  /** Erased as staff would, unless held. */
  leads: {
    table: 'leads',
    at: 'closed_at',
    days: 'RETENTION_LEADS_DAYS',
    only: raw`erased_at is null and held_at is null`,
    remove: eraseOld,
  },
  /** Emptied of what the endpoint answered. */
  attempts: {
    table: 'attempts',
    at: 'started_at',
    days: 'RETENTION_ATTEMPTS_DAYS',
    only: raw`(response_headers is not null or response_body is not null)`,
    remove: emptyAttempts,
  },
  /** For as long as partners are promised the stored answer. */
  idempotency_keys: { table: 'idempotency_keys', at: 'created_at', days: 1 },
  notices: { table: 'notices', at: 'owed_at', days: 90 },
  /** The secrets of a candidate and of the previous URL stay: a switch needs them. */
  secrets: {
    table: 'endpoint_secrets',
    at: 'expires_at',
    days: 365,
    only: raw`not exists (select from endpoints where endpoints.partner_id = endpoint_secrets.partner_id
      and (candidate = endpoint_secrets.id or previous_secret = endpoint_secrets.id and previous_until > now()))`,
  },
} satisfies Record<string, Retained>

export type RetainedName = keyof typeof retained
export const retainedNames = Object.keys(retained) as RetainedName[]

const limitOf = ({ days }: Retained, limits: Limits) => (typeof days === 'number' ? days : limits[days])

const isOld = ({ at, only = raw`true` }: Retained, days: number) =>
  raw<boolean>`${raw.ref(at)} < now() - ${days} * interval '1 day' and ${only}`

/** The shortest pause after a batch: live traffic goes first. */
const PAUSE_MS = 100
/** Servers that keep their clocks right differ by less than a second. */
const MOST_APART_SECONDS = 300

export interface Removal {
  sql: Sql
  config: Limits & Pick<Config<'worker'>, 'ERASURE_LOG'>
  signal?: AbortSignal
}

/**
 * Removes what is old of a class, in small batches, each followed by a pause as long as it took. It can be interrupted.
 *
 * @returns how many rows it removed; `undefined` if the class is kept forever.
 */
export async function removeOld({ sql, config, signal }: Removal, name: RetainedName) {
  const each: Retained = retained[name]
  const { remove = deleteRows } = each
  const days = limitOf(each, config)
  if (days === null) return undefined
  // PostgreSQL's clock decides what is old, and what is removed is gone
  if (Math.abs(await clockAheadSeconds(sql)) > MOST_APART_SECONDS)
    throw new Error('this machine’s clock and PostgreSQL’s are minutes apart: correct the one that is wrong')
  let total = 0
  let began = performance.now()
  for await (const removed of remove({ sql, days, each, logFile: config.ERASURE_LOG })) {
    total += removed
    if (signal?.aborted) break
    await delay(Math.max(PAUSE_MS, performance.now() - began), undefined, { signal }).catch(() => {})
    began = performance.now()
  }
  return total
}

/** A batch holds its locks for a tenth of a second. A lead has about ten webhooks with their attempts. */
const SIZES = { leads: 100, rows: 500, attempts: 2000 }

async function* deleteRows({ sql, days, each }: Old): AsyncGenerator<number> {
  const table = raw.table(each.table)
  for (let removed = SIZES.rows; removed === SIZES.rows; yield removed) {
    // a request that reuses an expired Idempotency-Key has locked its row, which stays
    const { numAffectedRows } = await raw`
      with old as (
        select ctid from ${table} where ${isOld(each, days)}
        order by ${raw.ref(each.at)} limit ${SIZES.rows} for update skip locked
      ) delete from ${table} using old where ${table}.ctid = old.ctid`.execute(sql)
    removed = Number(numAffectedRows)
  }
}

async function* eraseOld({ sql, days, each, logFile }: Old): AsyncGenerator<number> {
  const old = sql.selectFrom('leads').select('id').where(isOld(each, days))
  const oldest = old.orderBy('closed_at').orderBy('id').limit(SIZES.leads)
  for (;;) {
    const ids = (await oldest.execute()).map(({ id }) => id)
    if (ids.length === 0) return
    const detail = { reason: 'retention' as const, retention_days: days }
    yield (await eraseLeads(sql, ids, { by: 'retention', detail, logFile })).length
  }
}

/** By how much a worker's clock may be wrong: attempts have their ids from it. */
const SKEW_MS = HOUR_MS

/**
 * Goes through all old attempts by their ids, which begin with their time: an index of those that are not empty yet would
 * slow down every webhook.
 */
async function* emptyAttempts({ sql, days, each }: Old): AsyncGenerator<number> {
  const end = `att_${uuidBeginning(Date.now() - days * DAY_MS - SKEW_MS)}`
  const read = (after: string, limit: number) =>
    sql
      .selectFrom('attempts')
      .select('id')
      .where('id', '>', after)
      .where('id', '<', end)
      .orderBy('id')
      .limit(limit)
      .execute()
  for await (const page of pages(SIZES.attempts, '', read, ({ id }) => id)) {
    const { numUpdatedRows } = await sql
      .updateTable('attempts')
      .set({ response_headers: null, response_body: null })
      .where((eb) => eb('id', '=', eb.fn.any(eb.val(page.map(({ id }) => id)))))
      .where(isOld(each, days))
      .executeTakeFirstOrThrow()
    yield Number(numUpdatedRows)
  }
}

/** How many rows a run would remove now. */
export async function countOld(sql: Sql, limits: Limits) {
  const counts = []
  for (const name of retainedNames) {
    const days = limitOf(retained[name], limits)
    const { rows } = await raw<{ rows: number }>`
      select count(*)::int as rows from ${raw.table(retained[name].table)}
      where ${days === null ? raw`false` : isOld(retained[name], days)}`.execute(sql)
    counts.push({ class: name, days, rows: rows[0]?.rows ?? 0 })
  }
  return counts
}
