import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Logger } from 'pino'
import type { AttemptOutcome } from '../core/deliveries/decisions/attempt-outcome.ts'
import type { EndpointNotice } from '../core/endpoints/statements/incidents.ts'
import { FAILING_AFTER } from '../core/deliveries/decisions/delivery.ts'
import type { EndpointPauser } from '../core/endpoints/decisions/endpoint.ts'
import type { MilestoneName } from '../core/leads/decisions/milestones.ts'

/** Counts and logs what happens in the worker. It never throws and waits for nothing. */
export interface WorkerObserver {
  attempted(outcome: Pick<AttemptOutcome, 'ok' | 'status' | 'errorCode' | 'durationMs'>): void
  /** A webhook was taken for the first time, so long after its event was recorded. */
  delivered(seconds: number): void
  recorded(event: MilestoneName): void
  mailed(outcome: 'sent' | 'not_allowed' | 'refused'): void
  scored(outcome: 'received' | 'failed'): void
  /** One that failed for another reason than that it has to wait. */
  activityFailed(activity: string): void
  noticed(notice: EndpointNotice): void
  /** A webhook waits because a signing secret of its endpoint cannot be decrypted. */
  unreadable(secret: { endpointId: number; partnerId: number; reason: string }): void
  /** Rows of a class were removed because they are old. */
  removed(name: string, rows: number): void
  /** What a schedule starts came to its end here. */
  scheduleEnded(schedule: string): void
}

const MESSAGES: Record<EndpointNotice['kind'], string> = {
  failing: `a webhook has failed ${FAILING_AFTER} times in a row`,
  given_up: 'a webhook was given up',
  paused: 'an endpoint was paused',
  recovered: 'an endpoint works again',
}

/** Who pauses an endpoint without a reason for operators to look at it. */
const pausingPeople: readonly EndpointPauser[] = ['staff', 'partner']

/** The worker's metrics, in their own registry, and what counts them. */
export function createWorkerMetrics(log: Logger): { registry: Registry; observe: WorkerObserver } {
  const registry = new Registry()
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers: [registry] })
  collectDefaultMetrics({ register: registry })
  const attempts = counter('referrals_webhook_attempts_total', 'Webhook requests by result', 'result')
  const durations = new Histogram({
    name: 'referrals_webhook_attempt_duration_seconds',
    help: 'Duration of webhook requests',
    // a request may take 15 seconds
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers: [registry],
  })
  const delays = new Histogram({
    name: 'referrals_event_delivery_seconds',
    help: 'Time from the recording of an event until its endpoint took the webhook',
    // retries go on for 72 hours
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800, 7200, 28_800, 86_400, 259_200],
    registers: [registry],
  })
  const mails = counter('referrals_mails_total', 'Emails by outcome', 'outcome')
  const scores = counter('referrals_scores_total', 'Requests to the score provider by outcome', 'outcome')
  const failures = counter('referrals_activity_failures_total', 'Activities that failed', 'activity')
  const events = counter('referrals_events_recorded_total', 'Events that the worker recorded', 'event')
  const notices = counter(
    'referrals_endpoint_notices_total',
    'Endpoints and webhooks that began to fail, were paused, were given up, or recovered',
    'kind',
  )
  const removals = counter(
    'referrals_retention_removed_total',
    'Rows that were erased, emptied or deleted because they are old',
    'class',
  )
  const ends = new Gauge({
    name: 'referrals_schedule_last_end_timestamp_seconds',
    help: 'When this worker last came to the end of what a schedule starts',
    labelNames: ['schedule'],
    registers: [registry],
  })
  // an alert on an increase needs the zero before the first
  for (const kind of Object.keys(MESSAGES)) notices.inc({ kind }, 0)
  for (const outcome of ['sent', 'not_allowed', 'refused']) mails.inc({ outcome }, 0)
  for (const outcome of ['received', 'failed']) scores.inc({ outcome }, 0)
  return {
    registry,
    observe: {
      attempted({ ok, status, errorCode, durationMs }) {
        const failure =
          errorCode === 'http_error' && status ? `http_${Math.floor(status / 100)}xx` : errorCode
        attempts.inc({ result: ok ? 'delivered' : (failure ?? 'unknown') })
        durations.observe(durationMs / 1000)
      },
      // the clock of whoever recorded it may be ahead
      delivered: (seconds) => delays.observe(Math.max(0, seconds)),
      recorded: (event) => events.inc({ event }),
      mailed: (outcome) => mails.inc({ outcome }),
      scored: (outcome) => scores.inc({ outcome }),
      activityFailed: (activity) => failures.inc({ activity }),
      noticed({ kind, endpointId, partnerId, reason, eventId }) {
        // what people pause is no reason to look at it
        const isByPeople = kind === 'paused' && pausingPeople.some((who) => who === reason)
        notices.inc({ kind: isByPeople ? `paused_by_${reason}` : kind })
        const facts = { notice: kind, endpoint_id: endpointId, partner_id: partnerId, reason }
        const level = kind === 'recovered' ? 'info' : 'warn'
        log[level]({ ...facts, ...(eventId !== undefined && { event_id: eventId }) }, MESSAGES[kind])
      },
      unreadable({ endpointId, partnerId, reason }) {
        failures.inc({ activity: 'deliverWebhook' })
        const facts = { endpoint_id: endpointId, partner_id: partnerId, reason }
        log.error(facts, 'a webhook waits: its signing secret cannot be decrypted')
      },
      removed: (name, rows) => removals.inc({ class: name }, rows),
      scheduleEnded: (schedule) => ends.setToCurrentTime({ schedule }),
    },
  }
}
