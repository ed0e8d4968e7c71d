import { sql as raw } from 'kysely'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import { countedOf, isFirstOpen, isLeased } from '../deliveries/delivery.ts'
import { AFTER_ALL } from '../deliveries/list-deliveries.ts'
import { timestamp } from '../http/fields.ts'
import { errorCode, httpStatus, ofEvent, ofLead } from '../http/schemas.ts'
import { eventName } from '../leads/event-schema.ts'
import type { MilestoneName } from '../leads/milestones.ts'
import { recordedAt } from '../leads/new-lead.ts'
import { formatTimestamp } from '../values.ts'
import {
  type Certification,
  certificationChecks,
  certificationStates,
  checkResults,
} from './certification-checks.ts'
import { describeReason, endpointHealths, type EndpointState } from './endpoint-state.ts'

const milliseconds = z.int().min(0).nullable()
const share = z.number().min(0).max(1).nullable()
const integer = z.int().nullable()
const moment = timestamp.nullable()

const recentAttempts = z
  .object({
    count: z.int().min(0).describe('At most 1,000.'),
    success_rate: share.describe(
      'The share that your endpoint accepted, from 0 to 1. `null` if `count` is 0.',
    ),
    duration_p50_ms: milliseconds.describe('Half of the attempts took at most this long.'),
    duration_p95_ms: milliseconds.describe('95% of the attempts took at most this long.'),
  })
  .meta({ id: 'RecentAttempts' })
  .describe(
    'The latest 1,000 attempts, as far as they called the current URL: retries, resends and probes too, but none that is in progress.',
  )

const lastError = z
  .object({
    at: timestamp,
    status: httpStatus,
    error_code: errorCode.unwrap(),
    hint: z.string().nullable().describe('What to do about it.'),
  })
  .meta({ id: 'EndpointError' })
  .nullable()
  .describe('The latest attempt that failed. Both are about `recent_attempts`, and `null` if there is none.')

const oldestWaiting = z
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
  .describe('The open delivery that has waited longest; `null` if there is none.')

const candidate = z
  .object({ url: z.string().describe('The URL that set-endpoint got.'), requested_at: timestamp })
  .meta({ id: 'EndpointCandidate' })
  .nullable()
  .describe('The URL that is to take the place of `url`; `null` if there is none.')

const certificationCheck = z
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
    duration_ms: integer.describe('How long the response took; `null` if the check was not sent.'),
    hint: z.string().nullable().describe('What to change; `null` if the check passed.'),
  })
  .meta({ id: 'CertificationCheck' })

const certification = z
  .object({
    url: z.string().describe('The URL that was certified.'),
    state: z.enum(certificationStates),
    requested_at: timestamp,
    finished_at: moment.describe('`null` while it runs.'),
    checks: z.array(certificationCheck).describe('The checks that were made so far, in their order.'),
  })
  .meta({ id: 'Certification' })
  .nullable()
  .describe(
    'The latest certification; `null` if none was requested, or the URL that it is about has been replaced.',
  )

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
    open_deliveries: z.int().describe('Webhooks that are neither delivered, given up nor canceled.'),
    recent_attempts: recentAttempts,
    last_success_at: moment.describe('When your endpoint last accepted a webhook.'),
    last_error: lastError,
    oldest_waiting: oldestWaiting,
    next_attempt_at: moment.describe(
      'When the next open webhook is due; `null` if none is open and not being attempted now, or while your endpoint is paused.',
    ),
    next_probe_at: moment.describe(
      'When the service tries the endpoint again, if it paused it; otherwise `null`.',
    ),
    candidate,
    certification,
  })
  .meta({ id: 'Endpoint', description: 'Where your webhooks are sent.' })

export type EndpointView = z.output<typeof endpointView>

/** An endpoint that works, for examples. */
export const exampleView: EndpointView = {
  url: 'https://lender.example.com/webhooks',
  health: 'active',
  reason: describeReason(null),
  since: '2026-03-02 09:00:00',
  open_deliveries: 0,
  recent_attempts: { count: 1000, success_rate: 0.998, duration_p50_ms: 84, duration_p95_ms: 310 },
  last_success_at: '2026-03-09 10:30:00',
  last_error: null,
  oldest_waiting: null,
  next_attempt_at: null,
  next_probe_at: null,
  candidate: null,
  certification: null,
}

interface Health {
  state: EndpointState
  reason: string | null
  since: Date
  failing_since: Date | null
  recovered_at: Date | null
}

interface Row
  extends Health, Pick<EndpointView, 'url' | 'open_deliveries' | 'recent_attempts' | 'last_error'> {
  last_success_at: Date | null
  oldest: { event_id: string; event_name: MilestoneName; lead_id: number } | null
  next_attempt_at: Date | null
  next_probe_at: Date | null
  candidate_url: string | null
  candidate_at: Date | null
  certification: Certification | null
}

/**
 * A partner's endpoint, its recent attempts and its open deliveries.
 *
 * The figures are about attempts at the current URL: a new one is not blamed for the failures of the one before. Whole rows
 * are compared and ordered: with `=` on the partner, PostgreSQL may scan the rows of all partners by id.
 */
async function readEndpoint(sql: Sql, partnerId: number): Promise<Row> {
  const { rows } = await raw<Row>`
    with latest as materialized (
      select id, endpoint_revision, error_code, status, hint, duration_ms, finished_at from attempts
      where (partner_id, id) > (${partnerId}::int, '') and (partner_id, id) < (${partnerId}::int, 'att_g')
        and finished_at is not null and error_code is distinct from 'interrupted'
      order by partner_id desc, id desc limit 1000
    )
    select e.url, e.state, e.reason, e.since, e.failing_since, e.recovered_at, e.next_probe_at, e.candidate_url,
      e.candidate_at, e.certification, recent.*,
      (select count(*)::int from deliveries where partner_id = e.partner_id and state = 'pending') as open_deliveries,
      (
        select json_build_object('at', finished_at, 'status', status, 'error_code', error_code, 'hint', hint)
        from latest where error_code is not null and endpoint_revision >= e.url_revision order by id desc limit 1
      ) as last_error,
      (
        select json_build_object('event_id', event_id, 'event_name', event_name, 'lead_id', d.lead_id)
        from deliveries d join lead_events on lead_events.id = event_id
        where (d.state, d.partner_id, event_id) > ('pending', ${partnerId}::int, '')
          and (d.state, d.partner_id, event_id) < ('pending', ${partnerId}::int, ${AFTER_ALL})
        order by d.state, d.partner_id, event_id limit 1
      ) as oldest,
      case e.state when 'active' then (
        select ${countedOf('d', 'e').nextAttemptAt} from deliveries d
        where partner_id = e.partner_id and state = 'pending' and ${isFirstOpen} and not ${isLeased}
        order by next_attempt_at limit 1
      ) end as next_attempt_at
    from endpoints e cross join lateral (
      select max(finished_at) filter (where error_code is null) as last_success_at, json_build_object(
        'count', count(*),
        'success_rate', round(avg((error_code is null)::int), 4),
        'duration_p50_ms', percentile_disc(0.5) within group (order by duration_ms),
        'duration_p95_ms', percentile_disc(0.95) within group (order by duration_ms)
      ) as recent_attempts
      from latest where endpoint_revision >= e.url_revision
    ) recent
    where e.partner_id = ${partnerId}`.execute(sql)
  if (rows[0] === undefined) throw new Error(`partner ${partnerId} has no endpoint`)
  return rows[0]
}

/** The state of an endpoint with its reason, and since when. */
function healthOf({ state, reason, since, failing_since: failing, recovered_at: recovered }: Health) {
  if (state === 'active' && failing !== null)
    return { health: 'failing' as const, reason: 'attempts_fail', since: failing }
  if (state === 'active' && recovered !== null && recovered > since)
    return { health: state, reason: 'recovered', since: recovered }
  return { health: state, reason, since }
}

const formatted = (date: Date | string | null) => date && formatTimestamp(new Date(date))

/** A partner's endpoint, as it is shown. */
export async function viewOf(sql: Sql, partnerId: number): Promise<EndpointView> {
  const row = await readEndpoint(sql, partnerId)
  const { last_error: error, oldest, candidate_url: url, candidate_at: at, certification: latest } = row
  const { health, reason, since } = healthOf(row)
  return {
    url: row.url,
    health,
    reason: describeReason(reason),
    since: formatTimestamp(since),
    open_deliveries: row.open_deliveries,
    recent_attempts: row.recent_attempts,
    last_success_at: formatted(row.last_success_at),
    last_error: error && { ...error, at: formatTimestamp(new Date(error.at)) },
    oldest_waiting: oldest && { ...oldest, waiting_since: formatTimestamp(recordedAt(oldest.event_id)) },
    next_attempt_at: formatted(row.next_attempt_at),
    next_probe_at: formatted(row.next_probe_at),
    candidate: url === null || at === null ? null : { url, requested_at: formatTimestamp(at) },
    certification: latest && {
      url: latest.url,
      state: latest.state,
      requested_at: formatTimestamp(new Date(latest.requestedAt)),
      finished_at: formatted(latest.finishedAt),
      checks: latest.checks,
    },
  }
}

export const endpointWithSecret = endpointView
  .extend({ secret: z.string().describe('The new signing secret. Store it now: it is not shown again.') })
  .meta({ id: 'EndpointWithSecret', description: 'The endpoint, with the secret that was just made.' })
