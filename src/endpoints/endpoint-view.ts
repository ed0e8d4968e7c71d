import { z } from 'zod'
import { inSnapshot, type Sql } from '../database/sql.ts'
import { ApiError } from '../http/errors.ts'
import { timestamp } from '../http/fields.ts'
import { errorCode, httpStatus, ofEvent, ofLead } from '../http/schemas.ts'
import { eventName } from '../leads/event-schema.ts'
import { formatTimestamp } from '../values.ts'
import { diagnoseStatus } from '../webhooks/diagnosis.ts'
import {
  type Certification,
  certificationChecks,
  certificationStates,
  checkResults,
} from './certification-checks.ts'
import { type EndpointReading, readHealth } from './endpoint-health.ts'
import { describeReason, endpointHealths, healthOf } from './endpoint-state.ts'
import { findEndpoint } from './switch-endpoint.ts'

const certification = z
  .object({
    url: z.string().describe('The URL that was certified.'),
    state: z.enum(certificationStates),
    requested_at: timestamp,
    finished_at: timestamp.nullable().describe('`null` while it runs.'),
    checks: z
      .array(
        z
          .object({
            check: z.enum(certificationChecks).describe('Which check it is.'),
            sent: z.string().describe('For people: what we sent.'),
            result: z
              .enum(checkResults)
              .describe(
                '`not_judged`: the response says nothing about the check, such as a 404, or none came. A certification passes when all checks have passed.',
              ),
            expected: z.string().describe('For people: what your endpoint must respond.'),
            received: z.string().describe('For people: what it responded.'),
            duration_ms: z
              .int()
              .nullable()
              .describe('How long the response took; `null` if the check was not sent.'),
            hint: z.string().nullable().describe('What to change; `null` if the check passed.'),
          })
          .meta({ id: 'CertificationCheck' }),
      )
      .describe('The checks that were made so far, in their order.'),
  })
  .meta({ id: 'Certification' })
  .nullable()
  .describe(
    'The latest certification; `null` if none was requested, or the URL that it is about has been replaced.',
  )

/** What a partner has asked for its endpoint, and what came of it. */
const requestFields = {
  candidate: z
    .object({
      url: z.string().describe('The URL that set-endpoint got.'),
      requested_at: timestamp,
    })
    .meta({ id: 'EndpointCandidate' })
    .nullable()
    .describe('The URL that is to take the place of `url`; `null` if there is none.'),
  certification,
}

interface Requests {
  candidate_url: string | null
  candidate_at: Date | null
  certification: Certification | null
}

function requestsToWire({ candidate_url: url, candidate_at: at, certification: latest }: Requests) {
  return {
    candidate: url === null || at === null ? null : { url, requested_at: formatTimestamp(at) },
    certification: latest && {
      url: latest.url,
      state: latest.state,
      requested_at: formatTimestamp(new Date(latest.requestedAt)),
      finished_at: latest.finishedAt && formatTimestamp(new Date(latest.finishedAt)),
      checks: latest.checks,
    },
  }
}

/** None, for examples. */
const noRequests = { candidate: null, certification: null }

const milliseconds = z.int().min(0).nullable()

/** What an endpoint's view tells about recent attempts, waiting webhooks and probes. */
const healthFields = {
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
const exampleHealth = {
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

function healthToWire({
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

/** An endpoint as its partner sees it. */
export const endpointView = z
  .object({
    url: z.string().nullable().describe('`null` if none is registered.'),
    health: z.enum(endpointHealths).meta({
      id: 'EndpointHealth',
      description:
        '`active`: it works. `failing`: webhooks are sent, and every recent attempt failed. `paused`: webhooks are held.',
    }),
    reason: z.string().describe('For people.'),
    since: timestamp.describe('Since when `health` is what it is.'),
    open_deliveries: z
      .int()
      .describe('How many webhooks are not settled: neither delivered, given up nor canceled.'),
    ...healthFields,
    ...requestFields,
  })
  .meta({ id: 'Endpoint', description: 'Where your webhooks are sent.' })

export const endpointWithSecret = endpointView
  .extend({ secret: z.string().describe('The new signing secret. Store it now: it is not shown again.') })
  .meta({ id: 'EndpointWithSecret', description: 'The endpoint, with the secret that was just made.' })

export type EndpointView = z.output<typeof endpointView>

/** Reads a partner's endpoint in one snapshot. A caller with a transaction has the endpoint locked, which is as good. */
export async function viewOf(sql: Sql, partnerId: number): Promise<EndpointView> {
  return sql.isTransaction ? read(sql, partnerId) : inSnapshot(sql, (trx) => read(trx, partnerId))
}

async function read(sql: Sql, partnerId: number): Promise<EndpointView> {
  const endpoint = await findEndpoint(sql, partnerId)
  // every partner has one from the start
  if (endpoint === undefined) throw new ApiError('INTERNAL_ERROR')
  const { health, reason, since } = healthOf(endpoint)
  return {
    url: endpoint.url,
    health,
    reason: describeReason(reason),
    since: formatTimestamp(since),
    open_deliveries: endpoint.open_deliveries ?? 0,
    ...healthToWire(await readHealth(sql, partnerId)),
    ...requestsToWire(endpoint),
  }
}

/** An endpoint in its simplest state, for examples. */
export const exampleView: EndpointView = {
  url: 'https://lender.example.com/webhooks',
  health: 'active',
  reason: describeReason(null),
  since: '2026-03-02 09:00:00',
  open_deliveries: 0,
  ...exampleHealth,
  ...noRequests,
}
