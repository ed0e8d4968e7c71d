import { type Expression, sql as raw } from 'kysely'
import type { AttemptOutcome, Signature } from '../decisions/attempt-outcome.ts'
import type { AttemptTrigger } from '../decisions/delivery.ts'
import { isOfRevision } from '../../endpoints/statements/states.ts'
import { compiledOnce } from '../../database/compiled-once.ts'
import type { Sql } from '../../database/sql.ts'
import { noLease } from './lease.ts'

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
export async function endAttempt(
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
export async function deliver(
  sql: Sql,
  { attemptId, eventId, trigger, signed }: EndedAttempt,
  outcome: AttemptOutcome,
): Promise<number | undefined> {
  const ids = { attemptId, eventId, isResend: trigger === 'resend' }
  const result = { ...outcome, ...signed, responseHeaders: textOf(outcome) }
  const [row] = await writeDelivered(sql, { ...ids, ...result })
  return row?.partner_id
}
