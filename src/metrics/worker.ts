import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client'
import type { Logger } from 'pino'
import type { Backlog } from '../db/deliveries/backlog.ts'
import type { EndpointNotice } from '../db/endpoints/incidents.ts'
import type { MilestoneName } from '../domain/milestones.ts'
import { registerBacklog } from './backlog.ts'

/** How an attempt ended, as much as its series are told apart by. */
export interface AttemptEnd {
  ok: boolean
  status: number | null
  errorCode: string | null
  durationMs: number
}

/** A stored signing secret that cannot be decrypted; `reason` is no part of it. */
interface UnreadableSecret {
  endpointId: number
  partnerId: number
  reason: string
}

/** Hears what happens in the worker. Never throws and waits for nothing. */
export interface WorkerObserver {
  attempted(end: AttemptEnd): void
  recorded(event: MilestoneName): void
  noticed(notice: EndpointNotice): void
  /** A webhook waits, because a signing secret of its endpoint cannot be decrypted. */
  unreadable(secret: UnreadableSecret): void
}

/** The worker's metrics, in a registry of its own, and who counts for them. */
export function createWorkerMetrics(
  log: Logger,
  read: () => Promise<Backlog>,
): { registry: Registry; observe: WorkerObserver } {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const attempts = new Counter({
    name: 'referrals_webhook_attempts_total',
    help: 'Webhook requests by how they ended',
    labelNames: ['result'],
    registers,
  })
  const durations = new Histogram({
    name: 'referrals_webhook_attempt_duration_seconds',
    help: 'Time that webhook requests took',
    // a request may take 15 seconds
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
  })
  const events = new Counter({
    name: 'referrals_events_recorded_total',
    help: 'Events that the worker recorded',
    labelNames: ['event'],
    registers,
  })
  const notices = new Counter({
    name: 'referrals_endpoint_notices_total',
    help: 'Turns of endpoints for the worse or the better',
    labelNames: ['kind'],
    registers,
  })
  const unreadable = new Counter({
    name: 'referrals_webhook_secrets_unreadable_total',
    help: 'Webhooks that were not sent because a signing secret cannot be decrypted',
    registers,
  })
  registerBacklog(registry, read)
  // an alert on an increase needs the zero before the first
  for (const kind of Object.keys(MESSAGES)) notices.inc({ kind }, 0)
  return {
    registry,
    observe: {
      attempted(end) {
        attempts.inc({ result: resultOf(end) })
        durations.observe(end.durationMs / 1000)
      },
      recorded: (event) => events.inc({ event }),
      noticed(notice) {
        notices.inc({ kind: notice.kind })
        logNotice(log, notice)
      },
      unreadable({ endpointId, partnerId, reason }) {
        unreadable.inc()
        const facts = { endpoint_id: endpointId, partner_id: partnerId, reason }
        log.error(facts, 'a webhook waits: its signing secret cannot be decrypted')
      },
    },
  }
}

const MESSAGES: Record<EndpointNotice['kind'], string> = {
  failing: 'a webhook has failed four times in a row',
  given_up: 'a webhook was given up',
  paused: 'an endpoint was paused',
  recovered: 'an endpoint works again',
}

function logNotice(log: Logger, { kind, endpointId, partnerId, reason, eventId }: EndpointNotice): void {
  const facts = { notice: kind, endpoint_id: endpointId, partner_id: partnerId, reason }
  log[kind === 'recovered' ? 'info' : 'warn'](
    { ...facts, ...(eventId !== undefined && { event_id: eventId }) },
    MESSAGES[kind],
  )
}

/** `delivered`, an error's code, or the class of the status that the endpoint answered. */
function resultOf({ ok, status, errorCode }: Omit<AttemptEnd, 'durationMs'>): string {
  if (ok) return 'delivered'
  if (errorCode === 'http_error' && status !== null) return `http_${Math.floor(status / 100)}xx`
  return errorCode ?? 'unknown'
}
