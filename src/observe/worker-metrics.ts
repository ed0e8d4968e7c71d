import { isIPv6 } from 'node:net'
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common'
import type { ActivityInterceptorsFactory } from '@temporalio/worker'
import type { Logger } from 'pino'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Config } from '../config.ts'
import type { AttemptOutcome } from '../webhooks/send.ts'
import type { Backlog } from '../deliveries/backlog.ts'
import { FAILING_AFTER } from '../deliveries/delivery-states.ts'
import type { EndpointNotice } from '../endpoints/notices.ts'
import type { MilestoneName } from '../leads/milestones.ts'
import { cached, registerGauge } from './process-metrics.ts'

const MESSAGES: Record<EndpointNotice['kind'], string> = {
  failing: `a webhook has failed ${FAILING_AFTER} times in a row`,
  given_up: 'a webhook was given up',
  paused: 'an endpoint was paused',
}

/** Seconds; a request may take 15. */
const ATTEMPT_BUCKETS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
/** Seconds; retries go on for three days. */
const DELIVERY_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1800, 7200, 28_800, 86_400, 259_200]

/** The worker's metrics, in their own registry, and `observe`, which counts and logs, and never throws or waits. */
export function createWorkerMetrics(log: Logger) {
  const registry = new Registry()
  const registers = [registry]
  const counter = (name: string, help: string, label: string) =>
    new Counter({ name, help, labelNames: [label], registers })
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name, help, buckets, registers })
  collectDefaultMetrics({ register: registry })
  const attempts = counter('referrals_webhook_attempts_total', 'Webhook requests by result', 'result')
  const durations = histogram(
    'referrals_webhook_attempt_duration_seconds',
    'Duration of webhook requests',
    ATTEMPT_BUCKETS,
  )
  const delays = histogram(
    'referrals_event_delivery_seconds',
    'Time from the recording of an event until its endpoint accepted the webhook',
    DELIVERY_BUCKETS,
  )
  const mails = counter('referrals_mails_total', 'Emails by outcome', 'outcome')
  const failures = counter('referrals_activity_failures_total', 'Activities that failed', 'activity')
  const events = counter('referrals_events_recorded_total', 'Events that the worker recorded', 'event')
  const notices = counter(
    'referrals_endpoint_notices_total',
    'Webhooks that fail or were given up, and endpoints that the service paused',
    'kind',
  )
  const ends = new Gauge({
    name: 'referrals_schedule_last_end_timestamp_seconds',
    help: 'When this worker last finished the run of a schedule, or started',
    labelNames: ['schedule'],
    registers,
  })
  // an alert on an increase needs the zero before the first
  for (const kind of Object.keys(MESSAGES)) notices.inc({ kind }, 0)
  for (const outcome of ['sent', 'not_allowed', 'refused']) mails.inc({ outcome }, 0)
  const observe = {
    attempted({ ok, status, errorCode, durationMs }: Attempted): void {
      const failure = errorCode === 'http_error' && status ? `http_${Math.floor(status / 100)}xx` : errorCode
      attempts.inc({ result: ok ? 'delivered' : (failure ?? 'unknown') })
      durations.observe(durationMs / 1000)
    },
    /** A webhook was accepted for the first time, this long after its event was recorded, on a clock that may be ahead. */
    delivered: (seconds: number): void => delays.observe(Math.max(0, seconds)),
    recorded: (event: MilestoneName): void => events.inc({ event }),
    mailed: (outcome: 'sent' | 'not_allowed' | 'refused'): void => mails.inc({ outcome }),
    /** An activity failed, for another reason than that it has to wait. */
    activityFailed: (activity: string): void => failures.inc({ activity }),
    noticed({ kind, partnerId, reason, eventId }: EndpointNotice): void {
      notices.inc({ kind })
      const facts = { notice: kind, partner_id: partnerId, reason }
      log.warn({ ...facts, ...(eventId !== undefined && { event_id: eventId }) }, MESSAGES[kind])
    },
    /** A webhook waits because a signing secret of its endpoint cannot be decrypted. */
    unreadable({ partnerId, reason }: { partnerId: number; reason: string }): void {
      failures.inc({ activity: 'deliverWebhook' })
      log.error({ partner_id: partnerId, reason }, 'a webhook waits: its signing secret cannot be decrypted')
    },
    /** This worker finished the run of a schedule. */
    scheduleEnded: (schedule: string): void => ends.setToCurrentTime({ schedule }),
  }
  return { registry, observe }
}

type Attempted = Pick<AttemptOutcome, 'ok' | 'status' | 'errorCode' | 'durationMs'>
export type WorkerObserver = ReturnType<typeof createWorkerMetrics>['observe']

/** The gauge of each count of the backlog. */
const backlogGauges: Record<Exclude<keyof Backlog, 'endpoints'>, [name: string, help: string]> = {
  due: ['referrals_deliveries_due', 'Webhooks that should be sent now'],
  held: ['referrals_deliveries_held', 'Open webhooks to paused endpoints'],
  oldestDueSeconds: ['referrals_delivery_oldest_due_seconds', 'How long the oldest due webhook has been due'],
  oldestUnstartedSeconds: [
    'referrals_lead_oldest_unstarted_seconds',
    'How long the oldest lead has had no workflow',
  ],
}

/** Registers the backlog's gauges: read on a scrape, at most every five seconds, without a value while that fails. */
export function registerBacklog(registry: Registry, read: () => Promise<Backlog>): void {
  const latest = cached(read)
  for (const [count, [name, help]] of Object.entries(backlogGauges))
    registerGauge(registry, name, help, async () => (await latest())?.[count as keyof typeof backlogGauges])
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

type Settings = Pick<Config<'worker'>, 'METRICS_HOST' | 'TEMPORAL_METRICS_PORT'>

/** Where Temporal's SDK serves its own metrics, if it does, under the names that Prometheus and Temporal's dashboards use. */
export function sdkMetrics({ METRICS_HOST: host, TEMPORAL_METRICS_PORT: port }: Settings) {
  if (port === undefined) return undefined
  return {
    bindAddress: `${isIPv6(host) ? `[${host}]` : host}:${port}`,
    countersTotalSuffix: true,
    unitSuffix: true,
    useSecondsForDurations: true,
  }
}

/** Counts activities that fail, by type. A benign failure, of one that only has to wait, does not count. */
export function countedFailures(count: (activity: string) => void): ActivityInterceptorsFactory {
  const isExpected = (error: unknown) =>
    error instanceof CancelledFailure ||
    (error instanceof ApplicationFailure && error.category === ApplicationFailureCategory.BENIGN)
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
