import type { Logger } from 'pino'
import type { AttemptOutcome } from '../src/core/deliveries/decisions/attempt-outcome.ts'
import { finishAttempt, type Finished } from '../src/core/deliveries/statements/finish-attempt.ts'
import type { StartedAttempt } from '../src/core/deliveries/statements/new-attempt.ts'
import type { Sql } from '../src/core/database/sql.ts'
import { type AttemptTrigger, LEASE_MS, REQUEST_LIMIT_MS } from '../src/core/deliveries/decisions/delivery.ts'
import { failureReason } from '../src/core/leads/decisions/referral.ts'
import { recordedAt } from '../src/core/leads/statements/new-lead.ts'
import type { WorkerObserver } from '../src/metrics/worker.ts'
import { signedHeaders } from '../src/core/deliveries/webhooks/signature.ts'
import { again } from './again.ts'
import { workflowFields } from './log-fields.ts'
import { retryFor } from './retry-for.ts'

export type SendWebhook = (request: {
  url: string
  headers: Record<string, string>
  body: string
}) => Promise<AttemptOutcome>

export interface AttemptDependencies {
  sql: Sql
  send: SendWebhook
  startEndpoint: (endpointId: number) => Promise<unknown>
  observe: Pick<WorkerObserver, 'attempted' | 'delivered' | 'noticed'>
  log: Pick<Logger, 'info'>
}

/** How an attempt ended. */
export interface AttemptMade extends Finished {
  outcome: AttemptOutcome
  /** Of a failure, in a word or two. */
  reason: string
}

/**
 * Makes an attempt that is open: one signed request, its end in the record, and its line in the log.
 *
 * @param asked what the attempt was asked for as: a settled webhook is marked as a repeat.
 * @throws {ApplicationFailure} "again" when the process was frozen for so long that the lease may end before the request.
 */
export async function makeAttempt(
  { sql, send, startEndpoint, observe, log }: AttemptDependencies,
  started: StartedAttempt,
  asked: AttemptTrigger,
): Promise<AttemptMade> {
  const { eventId: id, attemptId, trigger, body, url, secrets, beganAt } = started
  // another process may send by then
  if (performance.now() - beganAt > LEASE_MS - REQUEST_LIMIT_MS)
    throw again('the attempt began too late', 1000)
  const at = new Date()
  const headers = signedHeaders({ id, body, at, secrets })
  const signed = { at, signature: headers['webhook-signature'] }
  const outcome = await send({ url, body, headers: { ...headers, ...markReplay(asked) } })
  observe.attempted(outcome)
  const write = () => finishAttempt(sql, { attemptId, eventId: id, trigger, signed }, outcome)
  // for as long as the lease: the answer of an endpoint is not asked for twice because PostgreSQL was away for a moment
  const finishing = retryFor(write, beganAt + LEASE_MS - performance.now())
  const tell = (end: Pick<Finished, 'end' | 'retry'> | undefined) =>
    log.info(fieldsOf(started, asked, outcome, end), 'attempt')
  const finished = await finishing.catch((error: unknown) => {
    tell(undefined)
    throw error
  })
  tell(finished)
  if (finished.end === 'delivered' && !isRepeat(asked))
    observe.delivered((Date.now() - recordedAt(id).getTime()) / 1000)
  for (const notice of finished.notices) {
    observe.noticed(notice)
    // it sends the email, and probes an endpoint that was paused; the comparison starts it if this fails
    void startEndpoint(notice.endpointId).catch(() => undefined)
  }
  return { ...finished, outcome, reason: failureReason(outcome.status, outcome.errorCode) }
}

/** Whether somebody asked for a webhook that was settled. */
const isRepeat = (asked: AttemptTrigger) => asked === 'resend' || asked === 'replay'

/** Tells a receiver that keeps no ids that this event is not news. */
function markReplay(asked: AttemptTrigger): Record<string, string> {
  return isRepeat(asked) ? { 'webhook-replay': 'true' } : {}
}

/** What the log says of an attempt; without its end, PostgreSQL could not be told of it. */
function fieldsOf(
  { partnerId, leadId, eventId, sequence, attemptId, requestId }: StartedAttempt,
  trigger: AttemptTrigger,
  { status, errorCode, durationMs }: AttemptOutcome,
  end: Pick<Finished, 'end' | 'retry'> | undefined,
) {
  return {
    partner_id: partnerId,
    lead_id: leadId,
    event_id: eventId,
    sequence,
    attempt_id: attemptId,
    trigger,
    outcome: end?.end ?? 'not_written',
    status,
    error_code: errorCode,
    duration_ms: durationMs,
    ...(end?.retry && { failures: end.retry.failures, retry_in_ms: end.retry.afterMs }),
    ...(requestId !== null && { request_id: requestId }),
    ...workflowFields(),
  }
}
