import { z } from 'zod'
import type { EndpointReading } from '../../../core/endpoints/statements/health.ts'
import { formatTimestamp } from '../../../core/values/timestamps.ts'
import { diagnoseStatus } from '../../../core/deliveries/webhooks/diagnosis.ts'
import { eventName } from '../../../core/http/events.ts'
import { timestamp } from '../../../core/http/fields.ts'
import { errorCode, httpStatus, ofEvent, ofLead } from '../../../core/http/response-fields.ts'

const milliseconds = z.int().min(0).nullable()

/** What an endpoint's view tells about recent attempts, waiting webhooks and probes. */
export const healthFields = {
  recent_attempts: z
    .object({
      count: z.int().min(0).describe('At most 1,000.'),
      success_rate: z
        .number()
        .min(0)
        .max(1)
        .nullable()
        .describe('The share that your endpoint accepted, from 0 to 1. `null` if `count` is 0.'),
      duration_p50_ms: milliseconds.describe('Half of the attempts took at most this long.'),
      duration_p95_ms: milliseconds.describe('95% of the attempts took at most this long.'),
    })
    .meta({ id: 'RecentAttempts' })
    .describe(
      'The latest 1,000 attempts, as far as they called the current URL: retries, resends and probes too, but none that is in progress.',
    ),
  last_success_at: timestamp.nullable().describe('When your endpoint last accepted a webhook.'),
  last_error: z
    .object({
      at: timestamp,
      status: httpStatus,
      error_code: errorCode.unwrap(),
      hint: z.string().nullable().describe('What to do about it.'),
    })
    .meta({ id: 'EndpointError' })
    .nullable()
    .describe(
      'The latest attempt that failed. Both are about `recent_attempts`, and `null` if there is none.',
    ),
  oldest_waiting: z
    .object({
      event_id: ofEvent,
      event_name: eventName,
      lead_id: ofLead,
      waiting_since: timestamp.describe(
        'When the event was recorded, UTC. In a sandbox, `created_at` of the event can be later: it follows the clock of the lead.',
      ),
    })
    .meta({ id: 'OldestWaiting' })
    .nullable()
    .describe('The open delivery that has waited longest; `null` if there is none.'),
  next_attempt_at: timestamp
    .nullable()
    .describe(
      'When the next open webhook is due; `null` if none is open and not being attempted now, or while your endpoint is paused.',
    ),
  next_probe_at: timestamp
    .nullable()
    .describe('When the service tries the endpoint again, if it paused it; otherwise `null`.'),
}

/** Of an endpoint that works. */
export const exampleHealth = {
  recent_attempts: { count: 1000, success_rate: 0.998, duration_p50_ms: 84, duration_p95_ms: 310 },
  last_success_at: '2026-03-09 10:30:00',
  last_error: null,
  oldest_waiting: null,
  next_attempt_at: null,
  next_probe_at: null,
}

/** Of one that nothing was sent to yet. */
export const exampleUnusedHealth = {
  ...exampleHealth,
  recent_attempts: { count: 0, success_rate: null, duration_p50_ms: null, duration_p95_ms: null },
  last_success_at: null,
}

/** Of one that accepted no webhook for three days. */
export const examplePausedHealth = {
  recent_attempts: { count: 1000, success_rate: 0.964, duration_p50_ms: 84, duration_p95_ms: 15_000 },
  last_success_at: '2026-03-06 09:12:05',
  last_error: {
    at: '2026-03-09 10:30:00',
    status: 503,
    error_code: 'http_error',
    hint: diagnoseStatus(503).hint,
  },
  oldest_waiting: {
    event_id: 'evt_019cc26d-3351-7c31-9d2e-3f4a5b6c7d8e',
    event_name: 'contract_signed',
    lead_id: 1042,
    waiting_since: '2026-03-06 09:14:22',
  },
  next_attempt_at: null,
  next_probe_at: '2026-03-09 11:30:00',
}

export function healthToWire({
  recent_attempts: recent,
  last_success_at,
  last_error: error,
  oldest_waiting: oldest,
  next_attempt_at,
  next_probe_at,
}: EndpointReading) {
  return {
    recent_attempts: {
      count: recent.count,
      success_rate: recent.success_rate,
      duration_p50_ms: recent.duration_p50_ms,
      duration_p95_ms: recent.duration_p95_ms,
    },
    last_success_at: last_success_at && formatTimestamp(last_success_at),
    last_error: error && {
      at: formatTimestamp(new Date(error.at)),
      status: error.status,
      error_code: error.error_code,
      hint: error.hint,
    },
    oldest_waiting: oldest && {
      event_id: oldest.event_id,
      event_name: oldest.event_name,
      lead_id: oldest.lead_id,
      waiting_since: formatTimestamp(oldest.waiting_since),
    },
    next_attempt_at: next_attempt_at && formatTimestamp(next_attempt_at),
    next_probe_at: next_probe_at && formatTimestamp(next_probe_at),
  }
}
