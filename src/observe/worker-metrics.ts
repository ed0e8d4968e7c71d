import { isIPv6 } from 'node:net'
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common'
import type { ActivityInterceptorsFactory } from '@temporalio/worker'
import type { Logger } from 'pino'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Config } from '../config.ts'
import type { AttemptOutcome } from '../deliveries/attempt-outcome.ts'
import type { Backlog } from '../deliveries/daily.ts'
import { FAILING_AFTER } from '../deliveries/delivery-states.ts'
import type { EndpointPauser } from '../endpoints/endpoint-state.ts'
import type { EndpointNotice } from '../endpoints/notices.ts'
import type { MilestoneName } from '../leads/milestones.ts'
import { cached, registerGauge } from './process-metrics.ts'

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

/**
 * Registers the gauges of what waits. They are read on a scrape, at most once in five seconds, and have no value while
 * they cannot be read.
 */
export function registerBacklog(registry: Registry, read: () => Promise<Backlog>): void {
  const latest = cached(read)
  const gauge = (name: string, help: string, valueOf: (backlog: Backlog) => number) =>
    registerGauge(registry, name, help, async () => {
      const backlog = await latest()
      return backlog && valueOf(backlog)
    })
  gauge('referrals_deliveries_due', 'Webhooks that should be sent now', ({ due }) => due)
  gauge('referrals_deliveries_held', 'Open webhooks to paused endpoints', ({ held }) => held)
  gauge(
    'referrals_delivery_oldest_due_seconds',
    'How long the oldest due webhook has been due',
    ({ oldestDueSeconds }) => oldestDueSeconds,
  )
  gauge(
    'referrals_delivery_oldest_undelivered_seconds',
    'How long ago the oldest event was recorded whose webhook is open and not held',
    ({ oldestUndeliveredSeconds }) => oldestUndeliveredSeconds,
  )
  gauge(
    'referrals_lead_oldest_unstarted_seconds',
    'How long the oldest lead without a workflow has waited for one',
    ({ oldestUnstartedSeconds }) => oldestUnstartedSeconds,
  )
  const endpoints: Gauge<'state'> = new Gauge({
    name: 'referrals_endpoints',
    help: 'Endpoints by state',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      const backlog = await latest()
      endpoints.reset()
      for (const [state, count] of Object.entries(backlog?.endpoints ?? {})) endpoints.set({ state }, count)
    },
  })
}

/** Registers whether a worker gets work, as `/readyz` says it. */
export function registerReadiness(registry: Registry, findFault: () => Promise<string | undefined>): void {
  const isReady = cached(async () => (await findFault()) === undefined)
  registerGauge(
    registry,
    'referrals_worker_ready',
    'Whether this worker polls Temporal and gets work: 1 or 0',
    async () => ((await isReady()) ? 1 : 0),
  )
}

type Settings = Pick<Config<'worker'>, 'HOST' | 'METRICS_HOST' | 'TEMPORAL_METRICS_PORT'>

/** Where Temporal's SDK serves its own metrics, if it does, under the names that Prometheus and Temporal's dashboards use. */
export function sdkMetrics({ HOST, METRICS_HOST, TEMPORAL_METRICS_PORT: port }: Settings) {
  if (port === undefined) return undefined
  return {
    bindAddress: `${addressOf(METRICS_HOST ?? HOST)}:${port}`,
    countersTotalSuffix: true,
    unitSuffix: true,
    useSecondsForDurations: true,
  }
}

/** The SDK takes no names. */
function addressOf(host: string): string {
  if (host === 'localhost') return '127.0.0.1'
  return isIPv6(host) ? `[${host}]` : host
}

/** Counts activities that fail, by their type: one that only has to wait says so, and does not count. */
export function countedFailures(count: (activity: string) => void): ActivityInterceptorsFactory {
  return ({ info: { activityType } }) => ({
    inbound: {
      execute: async (input, next) =>
        next(input).catch((error: unknown) => {
          if (!isExpected(error)) count(activityType)
          throw error
        }),
    },
  })
}

function isExpected(error: unknown): boolean {
  if (error instanceof CancelledFailure) return true
  return error instanceof ApplicationFailure && error.category === ApplicationFailureCategory.BENIGN
}
