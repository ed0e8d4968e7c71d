import { type Expression, sql as raw } from 'kysely'
import { compiledOnce, type Sql } from '../database/sql.ts'
import { columnsOf, isOfRevision, resumeAfterProbe } from '../endpoints/endpoint.ts'
import { type EndpointNotice, oweNotice } from '../endpoints/notices.ts'
import type { AttemptOutcome, Signature } from './attempt-outcome.ts'
import type { AttemptTrigger } from './delivery-states.ts'
import { noLease } from './delivery.ts'
import {
  decideFailure,
  type DeliveryChange,
  type EndpointChange,
  endWithoutEndpoint,
  type FailureDecision,
} from './outcome-decision.ts'
import { inRound } from './retry-schedule.ts'

/** The attempt that has ended, and whose it was. */
export interface EndedAttempt {
  attemptId: string
  eventId: string
  trigger: AttemptTrigger
  signed: Signature
}

/**
 * Writes down how an attempt ended; `next`: when its delivery is tried again, if it is. Without its lease nothing is written
 * of what the endpoint answered: the lead may be erased.
 */
async function endAttempt(
  trx: Sql,
  { attemptId, signed }: EndedAttempt,
  outcome: AttemptOutcome,
  { next, holdsLease }: { next: Date | null; holdsLease: boolean },
): Promise<void> {
  const told = holdsLease ? outcome : { ...outcome, address: null, responseHeaders: null, responseBody: null }
  await trx
    .updateTable('attempts')
    .set(endOf(signed, told, next))
    .where('id', '=', attemptId)
    .execute()
}

/** What the attempt's row says of its end. */
function endOf({ at, signature }: Signature, outcome: AttemptOutcome, next: Date | null) {
  return {
    ...resultOf({ ...outcome, at, signature, responseHeaders: textOf(outcome) }),
    next_attempt_at: next,
  }
}

/** What is known of an attempt that has ended, with its response's headers as text. */
type Result = Signature &
  Pick<AttemptOutcome, 'durationMs' | 'address' | 'status' | 'errorCode' | 'hint' | 'responseBody'> & {
    responseHeaders: string | null
  }

type Stated<Values> = { [Name in keyof Values]: Values[Name] | Expression<Values[Name]> }

const resultOf = (result: Stated<Result>) => ({
  signed_at: result.at,
  signature: result.signature,
  finished_at: raw<Date>`clock_timestamp()`,
  duration_ms: result.durationMs,
  address: result.address,
  status: result.status,
  error_code: result.errorCode,
  hint: result.hint,
  response_headers: raw<Record<string, string> | null>`${result.responseHeaders}::jsonb`,
  response_body: result.responseBody,
})

const textOf = ({ responseHeaders }: AttemptOutcome) =>
  responseHeaders === null ? null : JSON.stringify(responseHeaders)

interface Delivered extends Result {
  attemptId: string
  eventId: string
  isResend: boolean
}

const writeDelivered = compiledOnce<Delivered>()((sql, value) =>
  sql
    .with('delivery', (cte) =>
      cte
        .updateTable('deliveries')
        .set({
          ...noLease,
          state: 'delivered',
          settled_at: raw<Date>`case state when 'delivered' then settled_at else clock_timestamp() end`,
          interruptions: 0,
          resend_requested_at: raw<null>`case when state = 'pending' or ${value('isResend')} then null
            else resend_requested_at end`,
        })
        .where('event_id', '=', value('eventId'))
        .where('lease', '=', value('attemptId'))
        .returning('deliveries.partner_id'),
    )
    // written only when it changes: a row that every delivery updated would make them wait for each other
    .with('endpoint', (cte) =>
      cte
        .updateTable('endpoints')
        .from('delivery')
        .set({ failing_since: null, recovered_at: raw<Date>`clock_timestamp()` })
        .whereRef('endpoints.partner_id', '=', 'delivery.partner_id')
        .where(isOfRevision(value('attemptId')))
        .where(raw<boolean>`(failing_since is not null or coalesce(recovered_at <= since, true))`),
    )
    .with('attempt', (cte) =>
      cte
        .updateTable('attempts')
        .set({
          ...resultOf({
            at: value('at'),
            signature: value('signature'),
            durationMs: value('durationMs'),
            address: raw<string | null>`case when ${isHeld} then ${value('address')} end`,
            status: value('status'),
            errorCode: value('errorCode'),
            hint: value('hint'),
            responseHeaders: raw<string | null>`case when ${isHeld} then ${value('responseHeaders')} end`,
            responseBody: raw<string | null>`case when ${isHeld} then ${value('responseBody')} end`,
          }),
          next_attempt_at: null,
        })
        .where('id', '=', value('attemptId')),
    )
    .selectFrom('delivery')
    .select('partner_id'),
)

/** An erasure takes the lease: then nothing is written of what the endpoint answered. */
const isHeld = raw<boolean>`exists (select from delivery)`

/**
 * A 2xx, in one statement, since nothing has to be known before it: the delivery, then its endpoint, and the
 * attempt. Answers whose endpoint it was; `undefined` without the lease, and then the attempt alone is written.
 */
async function deliver(
  sql: Sql,
  { attemptId, eventId, trigger, signed }: EndedAttempt,
  outcome: AttemptOutcome,
): Promise<number | undefined> {
  const ids = { attemptId, eventId, isResend: trigger === 'resend' }
  const result = { ...outcome, ...signed, responseHeaders: textOf(outcome) }
  const [row] = await writeDelivered(sql, { ...ids, ...result })
  return row?.partner_id
}

export interface Finished {
  end: 'delivered' | FailureDecision['end']
  /** The delivery's failures in a row, and how long until it is tried again; absent when it is not. */
  retry?: { failures: number; afterMs: number }
  notices: EndpointNotice[]
}

/** Writes down how an attempt ended, for its delivery and its endpoint. */
export async function finishAttempt(
  sql: Sql,
  attempt: EndedAttempt,
  outcome: AttemptOutcome,
): Promise<Finished> {
  if (outcome.ok) return succeed(sql, attempt, outcome)
  return sql.transaction().execute(async (trx) => {
    const { attemptId, eventId, trigger } = attempt
    const delivery = await lockDelivery(trx, attempt)
    const { holdsLease } = delivery
    const end = endWithoutEndpoint({ ...delivery, trigger })
    if (end !== undefined) {
      if (holdsLease) await release(trx, attempt)
      // asked for before it was due: it keeps its place in the schedule
      const isForOpen = trigger === 'resend' && delivery.state === 'pending'
      const next = end === 'failed' && isForOpen ? delivery.nextAttemptAt : null
      await endAttempt(trx, attempt, outcome, { next, holdsLease })
      return { end, notices: [], ...(next && { retry: retryOf(delivery, next) }) }
    }
    const { now, partnerId } = delivery
    const endpoint = await lockEndpoint(trx, partnerId, attemptId)
    const facts = { ...inRound(delivery, endpoint.round, now), trigger }
    const decision = decideFailure(facts, endpoint, outcome, { now, random: Math.random })
    const next = decision.end === 'failed' ? (decision.delivery?.nextAttemptAt ?? null) : null
    await endAttempt(trx, attempt, outcome, { next, holdsLease })
    if (decision.delivery !== null)
      await failDelivery(trx, attempt, now, { ...decision.delivery, round: endpoint.round })
    if (decision.endpoint !== null) await failEndpoint(trx, partnerId, decision.endpoint)
    for (const { kind } of decision.notices)
      if (kind !== 'paused') await oweNotice(trx, partnerId, kind, eventId)
    const about = { endpointId: endpoint.id, partnerId, eventId }
    return { ...endedAs(decision, now), notices: decision.notices.map((notice) => ({ ...notice, ...about })) }
  })
}

async function succeed(sql: Sql, attempt: EndedAttempt, outcome: AttemptOutcome): Promise<Finished> {
  const write = async (trx: Sql) => {
    const partnerId = await deliver(trx, attempt, outcome)
    if (partnerId !== undefined && attempt.trigger === 'probe')
      await resumeAfterProbe(trx, partnerId, attempt.attemptId)
    return { end: partnerId === undefined ? ('superseded' as const) : ('delivered' as const), notices: [] }
  }
  return attempt.trigger === 'probe' ? sql.transaction().execute(write) : write(sql)
}

function lockDelivery(trx: Sql, { eventId, attemptId }: EndedAttempt) {
  return trx
    .selectFrom('deliveries')
    .select(['partner_id as partnerId', 'state', 'round', 'failures', 'last_but_one_at as lastButOneAt'])
    .select('next_attempt_at as nextAttemptAt')
    .select(raw<boolean>`lease is not distinct from ${attemptId}`.as('holdsLease'))
    .select(raw<Date>`clock_timestamp()`.as('now'))
    .where('event_id', '=', eventId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

function lockEndpoint(trx: Sql, partnerId: number, attemptId: string) {
  return trx
    .selectFrom('endpoints')
    .select(['id', 'paused_by as pausedBy', 'incident', 'failing_since as failingSince', 'round'])
    .select(isOfRevision(attemptId).as('isCurrent'))
    .where('partner_id', '=', partnerId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
}

async function release(trx: Sql, { eventId, trigger }: EndedAttempt): Promise<void> {
  await trx
    .updateTable('deliveries')
    .set({ ...noLease, interruptions: 0, ...(trigger === 'resend' && { resend_requested_at: null }) })
    .where('event_id', '=', eventId)
    .execute()
}

async function failDelivery(
  trx: Sql,
  { eventId }: EndedAttempt,
  now: Date,
  { round, failures, nextAttemptAt, isGivenUp, lastButOneAt }: DeliveryChange & { round: number },
): Promise<void> {
  await trx
    .updateTable('deliveries')
    .set({
      ...noLease,
      round,
      failures,
      interruptions: 0,
      next_attempt_at: nextAttemptAt,
      last_but_one_at: lastButOneAt,
      ...(isGivenUp && { state: 'given_up' as const, settled_at: now }),
    })
    .where('event_id', '=', eventId)
    .execute()
}

async function failEndpoint(
  trx: Sql,
  partnerId: number,
  { failingSince, incident, transition }: EndpointChange,
): Promise<void> {
  await trx
    .updateTable('endpoints')
    .set({
      ...(transition && columnsOf(transition)),
      failing_since: failingSince,
      ...(incident && { incident }),
    })
    .where('partner_id', '=', partnerId)
    .execute()
}

function endedAs({ end, delivery }: FailureDecision, now: Date): Omit<Finished, 'notices'> {
  if (end !== 'failed' || delivery === null) return { end }
  return { end, retry: retryOf({ failures: delivery.failures, now }, delivery.nextAttemptAt) }
}

const retryOf = ({ failures, now }: { failures: number; now: Date }, next: Date) => ({
  failures,
  afterMs: next.getTime() - now.getTime(),
})
