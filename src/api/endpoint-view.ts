import { z } from 'zod'
import { findEndpoint } from '../db/endpoints/endpoint.ts'
import { readHealth } from '../db/endpoints/health.ts'
import { requestsOf } from '../db/endpoints/own-endpoint.ts'
import type { Sql } from '../db/orm.ts'
import { certificationChecks, certificationResults } from '../domain/certification.ts'
import { describeReason, endpointHealths, healthOf } from '../domain/endpoint.ts'
import { formatTimestamp } from '../domain/timestamps.ts'
import { exampleHealth, healthFields, healthToWire } from './endpoint-health.ts'
import { ApiError } from './errors.ts'
import { timestamp } from './fields.ts'

const settled = timestamp.nullable()

const certification = z
  .object({
    url: z.string(),
    state: z
      .enum(['running', ...certificationResults])
      .describe('`superseded`: the candidate was replaced or canceled before the certification ended.'),
    requested_at: timestamp,
    finished_at: settled.describe('`null` while it runs.'),
    checks: z
      .array(
        z.object({
          check: z.enum(certificationChecks),
          sent: z.string().describe('For people: what we sent.'),
          passed: z.boolean(),
          expected: z.string().describe('For people: what your endpoint must respond.'),
          received: z.string().describe('For people: what it responded.'),
          duration_ms: z.int(),
          advice: z.string().nullable().describe('What to change; `null` if the check passed.'),
        }),
      )
      .describe('The checks that were made so far, in their order.'),
  })
  .nullable()
  .describe('The latest certification; `null` if none was requested.')

const lastTest = z
  .object({
    state: z.enum(['running', 'accepted', 'failed']),
    requested_at: timestamp,
    finished_at: settled,
    webhook_id: z.string().nullable(),
    status: z.int().nullable().describe('The HTTP status; `null` if there was no response.'),
    duration_ms: z.int().nullable(),
    error_code: z.string().nullable(),
    hint: z.string().nullable().describe('What to do about a failure.'),
  })
  .nullable()
  .describe('The latest test request; `null` if none was made.')

/** An endpoint as its partner sees it. */
export const endpointView = z.object({
  url: z.string().nullable().describe('`null` if none is registered.'),
  health: z
    .enum(endpointHealths)
    .describe(
      '`failing`: webhooks are sent, and every recent attempt failed. `paused`: webhooks are held. `draining`: held webhooks are being sent.',
    ),
  reason: z.string().describe('For people.'),
  since: timestamp,
  open_deliveries: z
    .int()
    .describe('How many webhooks are not settled: neither delivered, given up nor canceled.'),
  ...healthFields,
  candidate: z
    .object({
      url: z.string(),
      state: z
        .enum(['uncertified', 'announced'])
        .describe('`announced`: certified; it takes effect on `takes_effect_at`.'),
      requested_at: timestamp,
      takes_effect_at: settled.describe('`null` until the emails about the change are sent.'),
    })
    .nullable()
    .describe('The URL that is to take the place of `url`; `null` if there is none.'),
  new_secret: z
    .object({ requested_at: timestamp, takes_effect_at: settled })
    .nullable()
    .describe('A signing secret that does not sign yet; `null` if there is none.'),
  certification,
  last_test: lastTest,
})

export type EndpointView = z.output<typeof endpointView>

const orNull = (at: Date | null) => at && formatTimestamp(at)

/** Reads a partner's endpoint in one snapshot: a certification that has passed is never shown with the previous URL. */
export async function viewOf(sql: Sql, partnerId: number): Promise<EndpointView> {
  const snapshot = sql.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
  return snapshot.execute((trx) => read(trx, partnerId))
}

async function read(sql: Sql, partnerId: number): Promise<EndpointView> {
  const endpoint = await findEndpoint(sql, partnerId)
  // every partner has one from the start
  if (endpoint === undefined) throw new ApiError('INTERNAL_ERROR')
  const { health, reason, since } = healthOf({ ...endpoint, failingSince: endpoint.failing_since })
  return {
    url: endpoint.url,
    health,
    reason: describeReason(reason),
    since: formatTimestamp(since),
    open_deliveries: endpoint.open_deliveries ?? 0,
    ...healthToWire(await readHealth(sql, partnerId)),
    ...describeRequests(await requestsOf(sql, endpoint.id)),
  }
}

function describeRequests({
  candidate,
  newSecret,
  certification: latest,
  ping,
}: Awaited<ReturnType<typeof requestsOf>>) {
  return {
    candidate: candidate
      ? {
          url: candidate.url ?? '',
          state: candidate.state === 'announced' ? ('announced' as const) : ('uncertified' as const),
          requested_at: formatTimestamp(candidate.requested_at),
          takes_effect_at: orNull(candidate.takes_effect_at),
        }
      : null,
    new_secret: newSecret
      ? {
          requested_at: formatTimestamp(newSecret.requested_at),
          takes_effect_at: orNull(newSecret.takes_effect_at),
        }
      : null,
    certification: latest
      ? {
          url: latest.url ?? '',
          state: latest.result ?? ('running' as const),
          requested_at: formatTimestamp(latest.requested_at),
          finished_at: orNull(latest.finished_at),
          checks: latest.reports,
        }
      : null,
    last_test: ping ? describeTest(ping) : null,
  }
}

type Ping = NonNullable<Awaited<ReturnType<typeof requestsOf>>['ping']>

function describeTest({ requested_at: requestedAt, finished_at: finishedAt, outcome }: Ping) {
  const {
    webhook_id = null,
    status = null,
    duration_ms = null,
    error_code = null,
    hint = null,
  } = outcome ?? {}
  const ended = outcome?.ok ? ('accepted' as const) : ('failed' as const)
  const state = outcome === null ? ('running' as const) : ended
  return {
    state,
    requested_at: formatTimestamp(requestedAt),
    finished_at: orNull(finishedAt),
    webhook_id,
    status,
    duration_ms,
    error_code,
    hint,
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
  candidate: null,
  new_secret: null,
  certification: null,
  last_test: null,
}
