import { setTimeout as delay } from 'node:timers/promises'
import { type RawBuilder, sql as raw } from 'kysely'
import type { Config, retentionDays } from '../config.ts'
import { clockAheadSeconds, type Sql } from '../database/sql.ts'
import { eraseLeads } from './erase.ts'

/** How many days data is kept; `null` is forever. */
type Limits = Record<keyof typeof retentionDays, number | null>

interface Retained {
  table: string
  /** The column from which the age counts. */
  at: string
  /** The setting that limits the age, or the limit in days. */
  days: keyof Limits | number
  /** Which rows; all by default. */
  only?: RawBuilder<unknown>
  /** The columns that are emptied; by default the row is deleted. */
  emptied?: RawBuilder<unknown>
}

/** What is removed when it is old, in this order. The audit is kept for good. */
export const retained = {
  /** Erased as staff would, unless held. */
  leads: {
    table: 'leads',
    at: 'closed_at',
    days: 'RETENTION_LEADS_DAYS',
    only: raw`erased_at is null and held_at is null`,
  },
  attempts: {
    table: 'attempts',
    at: 'started_at',
    days: 'RETENTION_ATTEMPTS_DAYS',
    only: raw`(response_headers is not null or response_body is not null)`,
    emptied: raw`response_headers = null, response_body = null`,
  },
  /** For as long as partners are promised the stored answer. */
  idempotency_keys: { table: 'idempotency_keys', at: 'created_at', days: 1 },
  notices: { table: 'notices', at: 'owed_at', days: 90 },
  /** The secrets of a candidate and of the previous URL stay: a switch needs them. */
  secrets: {
    table: 'endpoint_secrets',
    at: 'expires_at',
    days: 365,
    only: raw`not exists (select from endpoints where endpoints.id = endpoint_id
      and (candidate = endpoint_secrets.id or previous_secret = endpoint_secrets.id and previous_until > now()))`,
  },
} satisfies Record<string, Retained>

export type RetainedName = keyof typeof retained
export const retainedNames = Object.keys(retained) as RetainedName[]

const limitOf = ({ days }: Retained, limits: Limits) => (typeof days === 'number' ? days : limits[days])

const isOld = ({ at, only = raw`true` }: Retained, days: number) =>
  raw`${raw.ref(at)} < now() - ${days} * interval '1 day' and ${only}`

/** At least, after each batch: live traffic goes first. */
const PAUSE_MS = 100
/** Servers that keep their clocks right differ by less than a second. */
const MOST_APART_SECONDS = 300

export interface Removal {
  sql: Sql
  config: Limits & Pick<Config<'worker'>, 'ERASURE_LOG'>
  signal?: AbortSignal
}

/**
 * Removes what is old of a class, in small batches with a pause as long as each took. Interrupted, it is called again.
 *
 * @returns how many rows it removed; `undefined` if the class is kept forever.
 */
export async function removeOld(
  { sql, config, signal }: Removal,
  name: RetainedName,
): Promise<number | undefined> {
  const days = limitOf(retained[name], config)
  if (days === null) return undefined
  // PostgreSQL's clock decides what is old, and what is removed is gone
  if (Math.abs(await clockAheadSeconds(sql)) > MOST_APART_SECONDS)
    throw new Error('this machine’s clock and PostgreSQL’s are minutes apart: correct the one that is wrong')
  let total = 0
  let after: string | undefined = ''
  for (;;) {
    const began = performance.now()
    let batch: Batch
    if (name === 'leads') batch = await eraseOld(sql, days, config.ERASURE_LOG)
    else if (name === 'attempts') batch = await emptyAttempts(sql, days, after)
    else batch = await removeRows(sql, retained[name], days)
    total += batch.removed
    after = batch.next
    if (after === undefined || signal?.aborted) return total
    await delay(Math.max(PAUSE_MS, performance.now() - began), undefined, { signal }).catch(() => {})
  }
}

interface Batch {
  removed: number
  /** Where the next batch begins; absent after the last one. */
  next?: string
}

/** A batch holds its locks for a tenth of a second. A lead has about ten webhooks with their attempts. */
const SIZES = { leads: 100, rows: 500, attempts: 5000 }

async function removeRows(sql: Sql, each: Retained, days: number): Promise<Batch> {
  const table = raw.table(each.table)
  // a request that takes an expired Idempotency-Key anew has locked it, and keeps it
  const { numAffectedRows = 0n } = await raw`
    with old as (
      select ctid from ${table} where ${isOld(each, days)}
      order by ${raw.ref(each.at)} limit ${SIZES.rows} for update skip locked
    ) ${each.emptied ? raw`update ${table} set ${each.emptied} from old` : raw`delete from ${table} using old`}
    where ${table}.ctid = old.ctid`.execute(sql)
  return { removed: Number(numAffectedRows), ...(numAffectedRows === BigInt(SIZES.rows) && { next: '' }) }
}

async function eraseOld(sql: Sql, days: number, logFile: string | undefined): Promise<Batch> {
  const { rows } = await raw<{ id: number }>`
    select id from leads where ${isOld(retained.leads, days)}
    order by closed_at, id limit ${SIZES.leads}`.execute(sql)
  const ids = rows.map(({ id }) => id)
  const erasing = { by: 'retention', reason: 'retention', retentionDays: days, logFile } as const
  const erased = ids.length === 0 ? [] : await eraseLeads(sql, ids, erasing)
  return { removed: erased.length, ...(rows.length === SIZES.leads && { next: '' }) }
}

/** By how much the clock of a worker may be wrong, which gives attempts their ids. */
const SKEW = raw`interval '1 hour'`

/**
 * Goes through all old attempts by their ids, which begin with their time: an index of those that are not empty yet would
 * slow down every webhook.
 */
async function emptyAttempts(sql: Sql, days: number, after: string): Promise<Batch> {
  const milliseconds = raw`(1000 * extract(epoch from now() - ${days} * interval '1 day' - ${SKEW}))::bigint`
  const { rows } = await raw<{ removed: number; last: string | null }>`
    with page as (
      select id from attempts
      where id > ${after} and id < 'att_' || overlay(lpad(to_hex(${milliseconds}), 12, '0') placing '-' from 9 for 0)
      order by id limit ${SIZES.attempts}
    ), emptied as (
      update attempts set ${retained.attempts.emptied} from page
      where attempts.id = page.id and ${isOld(retained.attempts, days)} returning 1
    )
    select (select count(*)::int from emptied) as removed, (select max(id) from page) as last`.execute(sql)
  const { removed = 0, last = null } = rows[0] ?? {}
  return { removed, ...(last !== null && { next: last }) }
}

/** A count ends here. */
export const MOST_COUNTED = 1_000_000

/** How many rows a run would remove now, and the date of the oldest. */
export async function countOld(sql: Sql, limits: Limits) {
  const counts = []
  for (const name of retainedNames) {
    const { table, at }: Retained = retained[name]
    const days = limitOf(retained[name], limits)
    const { rows } = await raw<{ rows: number; oldest: Date | null }>`
      select count(*)::int as rows, min(at) as oldest from (
        select ${raw.ref(at)} as at from ${raw.table(table)}
        where ${days === null ? raw`false` : isOld(retained[name], days)} limit ${MOST_COUNTED}
      ) as old`.execute(sql)
    counts.push({ class: name, days, ...rows[0] })
  }
  return counts
}
