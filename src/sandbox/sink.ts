import { randomBytes } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant, oneOf } from '../database/columns.ts'
import type { Sql } from '../database/sql.ts'
import { receivedSecrets } from '../endpoints/secrets.ts'
import { Partner } from '../partners/partner.ts'
import { HOUR_MS } from '../values.ts'

/** What a sink does instead of answering at once and as a whole. */
export const sinkFaults = {
  resets: 'resets the connection, and answers nothing',
  answers_half: 'announces its whole answer, and ends the connection after half of it',
  answers_slowly: 'sends its answer a byte a second, which takes longer than our time limit',
} as const

export type SinkFault = keyof typeof sinkFaults
export const sinkFaultNames = Object.keys(sinkFaults) as SinkFault[]

/** Whoever forgets what a sink was told finds it was. */
const FAULT_ENDS_AFTER_MS = HOUR_MS

/** A sandbox endpoint of ours that a partner uses as its own, and how it answers. */
export const Sink = defineEntity({
  name: 'Sink',
  tableName: 'sinks',
  properties: {
    partner: () => p.oneToOne(Partner).owner().primary().deleteRule('restrict'),
    /** The last part of its URL. */
    token: p.text().unique(),
    /** What it answers to a webhook with a valid signature. */
    status: p.integer().default(200),
    /** For how many more webhooks, after which it answers 200; null for all. */
    timesLeft: p.integer().nullable(),
    /** Before it answers. */
    delayMs: p.integer().default(0),
    /** What it does instead of answering at once and as a whole. */
    fault: p.text().$type<SinkFault>().nullable(),
    /** In seconds: what its `Retry-After` says. */
    retryAfter: p.integer().nullable(),
    /** When it answers 200 again, whatever is left; null for never. */
    endsAt: instant().nullable(),
  },
  checks: [{ name: 'sinks_fault_check', expression: oneOf('fault', sinkFaultNames) }],
})

/** A request that arrived at a sink: the last hundred of each are kept. */
export const SinkWebhook = defineEntity({
  name: 'SinkWebhook',
  tableName: 'sink_webhooks',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    partner: () => p.manyToOne(Partner).deleteRule('restrict'),
    receivedAt: instant().defaultRaw('clock_timestamp()'),
    webhookId: p.text(),
    /** Counts those with the same id, whose earlier ones may be forgotten by now. */
    attempt: p.integer(),
    headers: p.json<Record<string, string>>(),
    body: p.text(),
    /** Why its signature is not valid; null if it is. */
    problem: p.text().nullable(),
    status: p.integer(),
    delayMs: p.integer(),
    /** What it did instead of answering at once and as a whole. */
    fault: p.text().$type<SinkFault>().nullable(),
  },
  indexes: [{ name: 'sink_webhooks_partner_index', properties: ['partner', 'id'] }],
})

/** The path of a sink below `/v1`, before its token. */
export const SINK_PATH = '/sandbox/sinks/'

/** How many webhooks of a sink are kept, and how many requests that no secret signed: these drive out none of those. */
const KEPT = { signed: 100, unsigned: 20 }
/** What is kept of a request that no secret signed, in characters. */
const BEGINNING = 1000
const UNSIGNED_HEADERS = [
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'content-type',
  'user-agent',
]

const FAULT_ENDS = raw<Date>`clock_timestamp() + ${FAULT_ENDS_AFTER_MS / 1000} * interval '1 second'`

/** How a sink answers webhooks with a valid signature. */
export interface SinkAnswer {
  status: number
  /** For how many webhooks, before it answers 200 again; `null` for all. */
  times: number | null
  delayMs: number
  fault?: SinkFault | null
  /** In seconds. */
  retryAfter?: number | null
}

const asUsual = { status: 200, times_left: null, delay_ms: 0, fault: null, retry_after: null, ends_at: null }

/** Makes a partner's sink, or has the one that is there answer 200 again. @returns the last part of its URL. */
export async function provideSink(sql: Sql, partnerId: number): Promise<string> {
  const { token } = await sql
    .insertInto('sinks')
    .values({ partner_id: partnerId, token: randomBytes(16).toString('hex') })
    .onConflict((conflict) => conflict.column('partner_id').doUpdateSet(asUsual))
    .returning('token')
    .executeTakeFirstOrThrow()
  return token
}

/** What goes beyond status and time ends by itself. @returns false if the partner has no sink. */
export async function setSink(
  sql: Sql,
  partnerId: number,
  { status, times, delayMs, fault = null, retryAfter = null }: SinkAnswer,
): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable('sinks')
    .set({ status, times_left: times, delay_ms: delayMs, fault, retry_after: retryAfter })
    .set({ ends_at: fault === null && retryAfter === null ? null : FAULT_ENDS })
    .where('partner_id', '=', partnerId)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function findSink(sql: Sql, partnerId: number) {
  return sql
    .selectFrom('sinks')
    .select(['token', 'status', 'times_left as times', 'delay_ms as delayMs'])
    .select(['fault', 'retry_after as retryAfter', 'ends_at as endsAt'])
    .select(
      raw<boolean>`coalesce(ends_at <= clock_timestamp(), false) or coalesce(times_left = 0, false)`.as(
        'isOver',
      ),
    )
    .where('partner_id', '=', partnerId)
    .executeTakeFirst()
}

/** Whether a path's end can be a token of a sink, without asking the database. */
export const isToken = (text: string): boolean => /^[\da-f]{32}$/.test(text)

/**
 * Whose sink has this token, and the secrets that its webhooks may be signed with.
 *
 * @throws {SealError}
 */
export async function findSinkByToken(sql: Sql, token: string, encryptionKeys: readonly Buffer[]) {
  const sink = await sql
    .selectFrom('sinks')
    .innerJoin('endpoints', 'endpoints.partner_id', 'sinks.partner_id')
    .select(['sinks.partner_id as partnerId', 'endpoints.id as endpointId'])
    .where('token', '=', token)
    .executeTakeFirst()
  if (sink === undefined) return undefined
  const { partnerId, endpointId } = sink
  return { partnerId, secrets: await receivedSecrets(sql, endpointId, encryptionKeys) }
}

/** Takes the answer to the next webhook, and counts it. */
export async function takeAnswer(sql: Sql, partnerId: number): Promise<TakenAnswer> {
  const { rows } = await raw<TakenAnswer>`
    update sinks set times_left = case when sinks.times_left > 0 then sinks.times_left - 1 else sinks.times_left end
    from (
      select *, coalesce(times_left = 0, false) or coalesce(ends_at <= clock_timestamp(), false) as is_over
      from sinks where partner_id = ${partnerId} for update
    ) before
    where sinks.partner_id = before.partner_id
    returning case when before.is_over then 200 else before.status end as status,
      case when before.is_over then 0 else before.delay_ms end as "delayMs",
      case when before.is_over then null else before.fault end as fault,
      case when before.is_over then null else before.retry_after end as "retryAfter"
  `.execute(sql)
  return rows[0] ?? { status: 200, delayMs: 0, fault: null, retryAfter: null }
}

export type TakenAnswer = Required<Omit<SinkAnswer, 'times'>>

interface Arrival {
  headers: Record<string, string>
  body: string
  /** Why no secret signed it; `null` if one did. */
  problem: string | null
  status: number
  delayMs: number
  fault?: SinkFault | null
}

/** Keeps what arrived, and forgets the oldest. */
export async function keepArrival(sql: Sql, partnerId: number, arrival: Arrival): Promise<void> {
  const { problem, status, delayMs, fault = null } = arrival
  const { headers, body } = problem === null ? arrival : beginningOf(arrival)
  const isUnsigned = problem !== null
  const webhookId = headers['webhook-id'] ?? ''
  const { id } = await sql
    .insertInto('sink_webhooks')
    .values({
      partner_id: partnerId,
      webhook_id: webhookId,
      attempt: raw<number>`(
        select coalesce(max(attempt), 0) + 1 from sink_webhooks
        where partner_id = ${partnerId} and webhook_id = ${webhookId} and (problem is not null) = ${isUnsigned}
      )`,
      headers: raw<Record<string, string>>`${JSON.stringify(headers)}::jsonb`,
      body,
      problem,
      status,
      delay_ms: delayMs,
      fault,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await sql
    .deleteFrom('sink_webhooks')
    .where('partner_id', '=', partnerId)
    .where(raw<boolean>`(problem is not null) = ${isUnsigned}`)
    .where('id', '<=', (eb) =>
      eb
        .selectFrom('sink_webhooks')
        .select('id')
        .where('partner_id', '=', partnerId)
        .where(raw<boolean>`(problem is not null) = ${isUnsigned}`)
        .where('id', '<=', id)
        .orderBy('id', 'desc')
        .offset(isUnsigned ? KEPT.unsigned : KEPT.signed)
        .limit(1),
    )
    .execute()
}

/** Enough to see what it was. Anybody may have sent it: PostgreSQL stores no NUL. */
function beginningOf({ headers, body }: Arrival) {
  const short = (text: string) => text.slice(0, BEGINNING).toWellFormed().replaceAll('\0', '\uFFFD')
  const kept = UNSIGNED_HEADERS.flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, short(value)] as const]
  })
  return { headers: Object.fromEntries(kept) as Record<string, string>, body: short(body) }
}

/** What a partner's sink has kept, newest first. */
export async function readArrivals(sql: Sql, partnerId: number) {
  return sql
    .selectFrom('sink_webhooks')
    .select(['received_at', 'webhook_id', 'attempt', 'headers', 'body', 'problem', 'status'])
    .select(['delay_ms', 'fault'])
    .where('partner_id', '=', partnerId)
    .orderBy('id', 'desc')
    .limit(KEPT.signed + KEPT.unsigned)
    .execute()
}
