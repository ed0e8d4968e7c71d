import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Sql } from '../src/database/sql.ts'
import type { StartedAttempt } from '../src/deliveries/attempt.ts'
import { LEASE_MS, REQUEST_LIMIT_MS } from '../src/deliveries/delivery-states.ts'
import { createLeaseJudge, type MayTake } from '../src/deliveries/delivery.ts'
import { finishAttempt, type Finished } from '../src/deliveries/finish-attempt.ts'
import { createPlaces } from '../src/deliveries/places.ts'
import { recordedAt } from '../src/leads/new-lead.ts'
import type { DeliveryFailure } from '../src/leads/referral-state.ts'
import type { WorkerObserver } from '../src/observe/worker-metrics.ts'
import type { AttemptOutcome, SendWebhook } from '../src/webhooks/send.ts'
import { signedHeaders } from '../src/webhooks/signature.ts'
import { again, retryFor, workflowFields } from './activity-context.ts'

export interface AttemptDependencies {
  sql: Sql
  send: SendWebhook
  startEndpoint: (partnerId: number) => Promise<unknown>
  /** Tells the lead's workflow, for operators, that its webhook fails. Waits for nothing and never throws. */
  tellFailure: (leadId: number, failure: DeliveryFailure) => void
  observe: Pick<WorkerObserver, 'attempted' | 'delivered' | 'noticed'>
  log: Pick<Logger, 'info' | 'warn'>
}

/** How long an activity waits for the answer to a first attempt. The request continues after that. */
const WAIT_MS = 1000

export type Attempts = ReturnType<typeof createAttempts>

interface Options {
  waitMs?: number
  monotonicMs?: () => number
}

/**
 * The attempts of a process: all of its webhook requests begin here. Each takes one of its partner's places, and is registered
 * while it is in flight.
 */
export function createAttempts(
  dependencies: AttemptDependencies,
  { waitMs = WAIT_MS, monotonicMs }: Options = {},
) {
  const places = createPlaces()
  const judge = createLeaseJudge(monotonicMs)
  const underWay = new Map<string, Promise<Finished>>()
  const keyOf = (leadId: number, sequence: number) => `${leadId}/${sequence}`

  function make(started: StartedAttempt): Promise<Finished> {
    const { leadId, sequence, partnerId } = started
    const key = keyOf(leadId, sequence)
    const answered = (outcome: AttemptOutcome) => places.answered(partnerId, outcome)
    const making = makeAttempt(dependencies, started, answered).finally(() => {
      underWay.delete(key)
      places.giveBack(partnerId)
    })
    underWay.set(key, making)
    // its caller may wait no longer
    making.catch(() => {})
    return making
  }

  return {
    /** Whether `work` resolves to true while an activity waits for it. It continues after that. */
    inTime: (work: Promise<boolean>): Promise<boolean> =>
      Promise.race([work.catch(() => false), delay(waitMs, false, { ref: false })]),

    /**
     * Begins an attempt in one of the partner's places, and makes the one that `begin` has `started`, if it has.
     *
     * @returns `undefined` if there is no place.
     */
    async begin<Begun extends object | undefined>(
      partnerId: number,
      begin: () => Promise<Begun>,
    ): Promise<{ begun: Begun; making?: Promise<Finished> } | undefined> {
      if (!places.take(partnerId)) return undefined
      let making: Promise<Finished> | undefined
      try {
        const begun = await begin()
        const { started }: { started?: StartedAttempt } = begun ?? {}
        if (started !== undefined) making = make(started)
        return { begun, ...(making && { making }) }
      } finally {
        if (making === undefined) places.giveBack(partnerId)
      }
    },

    /** After how many milliseconds an attempt that found no place should come back. */
    turnAwayMs: (partnerId: number) => places.turnAwayMs(partnerId),

    /** Whether the lease of a delivery may be taken: never while this process has a request of it. */
    mayTake:
      (leadId: number, sequence: number): MayTake =>
      (lease) =>
        judge(lease) && !underWay.has(keyOf(leadId, sequence)),

    /** Resolves once no request of this process for that webhook is under way. */
    async ended(leadId: number, sequence: number): Promise<void> {
      await underWay.get(keyOf(leadId, sequence))?.catch(() => {})
    },

    /** Resolves once no attempt is in flight. */
    async settled(): Promise<void> {
      await Promise.allSettled(underWay.values())
    },
  }
}

/**
 * Makes an attempt that is open: sends one signed request, writes the outcome to the record, and logs it.
 *
 * @throws {ApplicationFailure} "again" when the process was frozen for so long that the lease may end before the request.
 */
async function makeAttempt(
  { sql, send, startEndpoint, tellFailure, observe, log }: AttemptDependencies,
  started: StartedAttempt,
  answered: (outcome: AttemptOutcome) => void,
): Promise<Finished> {
  const { eventId: id, leadId, sequence, partnerId, isRepeat, body, url, secrets, beganAt } = started
  // another process may send by then
  if (performance.now() - beganAt > LEASE_MS - REQUEST_LIMIT_MS)
    throw again('the attempt began too late', 1000)
  const at = new Date()
  const headers = signedHeaders({ id, body, at, secrets })
  // tells a receiver that keeps no ids that this event is not news
  const outcome = await send({
    url,
    body,
    headers: isRepeat ? { ...headers, 'webhook-replay': 'true' } : headers,
  })
  answered(outcome)
  observe.attempted(outcome)
  const signed = { at, signature: headers['webhook-signature'] }
  const write = () => finishAttempt(sql, { ...started, signed }, outcome)
  const tell = (end?: Finished) => log.info(fieldsOf(started, outcome, end), 'attempt')
  // for as long as the lease: a short outage of PostgreSQL must not cause a second request
  const finished = await retryFor(write, beganAt + LEASE_MS - performance.now()).catch((error: unknown) => {
    tell()
    throw error
  })
  tell(finished)
  if (finished.end === 'delivered' && !isRepeat)
    observe.delivered((Date.now() - recordedAt(id).getTime()) / 1000)
  if (finished.retry) {
    const { failures, reason } = finished.retry
    tellFailure(leadId, { sequence, failures, reason })
  }
  for (const notice of finished.notices) {
    observe.noticed({ ...notice, partnerId, eventId: id })
    // it sends the email, and probes an endpoint that was paused; the comparison starts it if this fails
    void startEndpoint(partnerId).catch(() => undefined)
  }
  return finished
}

/** The log's fields of an attempt. Without `end`, its outcome could not be written. */
function fieldsOf(
  { partnerId, leadId, eventId, sequence, attemptId, trigger, requestId }: StartedAttempt,
  { status, errorCode, durationMs }: AttemptOutcome,
  end: Finished | undefined,
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
