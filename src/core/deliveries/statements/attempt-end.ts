import { sql as raw } from 'kysely'
import type { AttemptOutcome, Signature } from '../decisions/attempt-outcome.ts'
import type { AttemptTrigger } from '../decisions/delivery.ts'
import { isOfRevision } from '../../endpoints/statements/states.ts'
import { jsonb } from '../../database/jsonb.ts'
import type { Sql } from '../../database/orm.ts'

/** The attempt that has ended, and whose it was. */
export interface EndedAttempt {
  attemptId: string
  eventId: string
  trigger: AttemptTrigger
  signed: Signature
}

/** Writes down how an attempt ended; `next`: when its delivery is tried again, if it is. */
export async function endAttempt(
  trx: Sql,
  { attemptId, signed }: EndedAttempt,
  outcome: AttemptOutcome,
  next: Date | null,
): Promise<void> {
  await trx
    .updateTable('attempts')
    .set(endOf(signed, outcome, next))
    .where('id', '=', attemptId)
    .execute()
}

/** What the attempt's row says of its end. */
function endOf({ at, signature }: Signature, outcome: AttemptOutcome, next: Date | null) {
  return {
    signed_at: at,
    signature,
    finished_at: raw<Date>`clock_timestamp()`,
    duration_ms: outcome.durationMs,
    address: outcome.address,
    status: outcome.status,
    error_code: outcome.errorCode,
    hint: outcome.hint,
    response_headers: jsonb(outcome.responseHeaders),
    response_body: outcome.responseBody,
    next_attempt_at: next,
  }
}

/**
 * A 2xx, in one statement, since nothing has to be known before it: the delivery, then its endpoint, and the
 * attempt. Answers whose endpoint it was.
 */
export async function deliver(
  sql: Sql,
  { attemptId, eventId, trigger, signed }: EndedAttempt,
  outcome: AttemptOutcome,
): Promise<number> {
  const { partner_id: partnerId } = await sql
    .with('delivery', (cte) =>
      cte
        .updateTable('deliveries')
        .set({
          state: 'delivered',
          settled_at: raw<Date>`case state when 'delivered' then settled_at else clock_timestamp() end`,
          lease: null,
          leased_until: null,
          resend_requested_at: raw<null>`case when state = 'pending' or ${trigger === 'resend'} then null
            else resend_requested_at end`,
        })
        .where('event_id', '=', eventId)
        .returning('partner_id'),
    )
    // written only when it changes: a row that every delivery updated would make them wait for each other
    .with('endpoint', (cte) =>
      cte
        .updateTable('endpoints')
        .from('delivery')
        .set({
          failing_since: null,
          blocked_until: null,
          recovered_at: raw<Date>`case when failing_since is null then recovered_at else clock_timestamp() end`,
        })
        .whereRef('endpoints.partner_id', '=', 'delivery.partner_id')
        .where(isOfRevision(attemptId))
        .where((eb) => eb.or([eb('failing_since', 'is not', null), eb('blocked_until', 'is not', null)])),
    )
    .with('attempt', (cte) =>
      cte
        .updateTable('attempts')
        .set(endOf(signed, outcome, null))
        .where('id', '=', attemptId),
    )
    .selectFrom('delivery')
    .select('partner_id')
    .executeTakeFirstOrThrow()
  return partnerId
}
