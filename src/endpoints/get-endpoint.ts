import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { sql as raw } from 'kysely'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { noObject } from '../http/errors.ts'
import { timestamp } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { errorCode, EXAMPLE_SECRET, httpStatus, strictBody, success } from '../http/schemas.ts'
import { certificationChecks, certificationStates, checkResults } from './certification-checks.ts'
import { describeReason } from './endpoint-state.ts'
import { scheduleInRound, isFirstOpen, openDeliveryCount } from './open-deliveries.ts'

const moment = timestamp.nullable()

const lastError = z
  .object({
    at: timestamp,
    status: httpStatus,
    error_code: errorCode.unwrap(),
    hint: z.string().nullable().describe('What to do about it.'),
  })
  .meta({ id: 'EndpointError' })
  .nullable()
  .describe(
    'The latest attempt that failed. It and `last_success_at` come from those of your latest 1,000 attempts that called the current URL; `null` if there is none.',
  )

const candidate = z
  .object({ url: z.string().describe('The URL that you set.'), requested_at: timestamp })
  .meta({ id: 'EndpointCandidate' })
  .nullable()
  .describe('The URL that replaces `url` once it is certified; `null` if there is none.')

const certificationCheck = z
  .object({
    check: z.enum(certificationChecks).describe('Which check it is.'),
    result: z
      .enum(checkResults)
      .describe(
        '`not_judged`: the response says nothing about the check, such as a 404, or there was none. A certification passes when all checks have passed.',
      ),
    received: z.string().describe('For people: what your endpoint responded.'),
    duration_ms: z.int().describe('How long the response took.'),
    hint: z.string().nullable().describe('What to change; `null` if the check passed.'),
  })
  .meta({ id: 'CertificationCheck' })

const certification = z
  .object({
    url: z.string().describe('The URL that was certified.'),
    state: z.enum(certificationStates),
    requested_at: timestamp,
    finished_at: moment.describe('`null` while it runs.'),
    checks: z
      .array(certificationCheck)
      .describe(
        'The checks that were made so far, in their order. After one without a response, the others are not made.',
      ),
  })
  .meta({ id: 'Certification' })
  .nullable()
  .describe('The latest certification; `null` if none was requested, or its URL was replaced.')

/** An endpoint as its partner sees it. */
export const endpointView = z
  .object({
    url: z.string().nullable().describe('`null` if none is registered.'),
    health: z.enum(['active', 'failing', 'paused']).meta({
      id: 'EndpointHealth',
      description:
        '`active`: it works. `failing`: webhooks are sent, and every recent attempt failed. `paused`: webhooks are held.',
    }),
    reason: z.string().describe('For people.'),
    since: timestamp.describe('Since when `health` has had this value.'),
    open_deliveries: z.int().describe('Webhooks that are neither delivered, given up nor canceled.'),
    last_success_at: moment.describe('When your endpoint last accepted a webhook.'),
    last_error: lastError,
    next_attempt_at: moment.describe(
      'When the next open webhook is due; `null` if no webhook waits, or while your endpoint is paused.',
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
  last_success_at: '2026-03-09 10:30:00',
  last_error: null,
  next_attempt_at: null,
  next_probe_at: null,
  candidate: null,
  certification: null,
}

/** A moment as `formatTimestamp` writes it. */
const shown = (time: string) => raw.raw(`to_char((${time}) at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS')`)

/**
 * A partner's endpoint, its recent attempts and its open deliveries, as they are shown.
 *
 * Failures of the previous URL do not count. Whole rows are compared and ordered: with `=` on the partner,
 * PostgreSQL may scan the rows of all partners by id.
 */
export async function viewOf(sql: Sql, partnerId: number): Promise<EndpointView> {
  const { rows } = await raw<Omit<EndpointView, 'reason'> & { reason: string | null }>`
    with latest as materialized (
      select id, round, error_code, status, hint, finished_at from attempts
      where (partner_id, id) > (${partnerId}::int, '') and (partner_id, id) < (${partnerId}::int, 'att_g')
        and finished_at is not null and error_code is distinct from 'interrupted'
      order by partner_id desc, id desc limit 1000
    )
    select url, case when fails then 'failing' else state end as health,
      case when fails then 'attempts_fail' else reason end as reason,
      ${shown('case when fails then failing_since else since end')} as since,
      ${openDeliveryCount} as open_deliveries,
      (
        select ${shown('max(finished_at)')} from latest where error_code is null and latest.round >= url_round
      ) as last_success_at,
      (
        select json_build_object('at', ${shown('finished_at')}, 'status', status, 'error_code', error_code, 'hint', hint)
        from latest where error_code is not null and latest.round >= url_round order by id desc limit 1
      ) as last_error,
      case state when 'active' then (
        select ${shown('due')} from (
          select ${scheduleInRound('d', 'endpoints').nextAttemptAt} as due from deliveries d
          where d.partner_id = endpoints.partner_id and d.state = 'pending' and ${isFirstOpen} and d.lease is null
          order by d.next_attempt_at limit 1
        ) next
      ) end as next_attempt_at,
      ${shown('next_probe_at')} as next_probe_at,
      case when candidate is not null then json_build_object(
        'url', candidate_url, 'requested_at', ${shown('candidate_at')}
      ) end as candidate,
      case when certification is not null then json_build_object(
        'url', coalesce(candidate_url, url), 'state', certification->'state', 'checks', certification->'checks',
        'requested_at', ${shown("(certification->>'requestedAt')::timestamptz")},
        'finished_at', ${shown("(certification->>'finishedAt')::timestamptz")}
      ) end as certification
    from endpoints cross join lateral (select state = 'active' and failing_since is not null as fails) f
    where partner_id = ${partnerId}`.execute(sql)
  const [view] = rows
  if (view === undefined) throw new Error(`partner ${partnerId} has no endpoint`)
  return { ...view, reason: describeReason(view.reason) }
}

/** The response of calls about an endpoint, and the body of those without fields. */
export const endpointResponse = {
  response: z.object({ success, data: endpointView }),
  responseDescription: 'The endpoint.',
  responseExamples: { endpoint: { success: true, data: exampleView } },
}
export const emptyBody = { body: strictBody({}).describe('Empty.'), bodyExamples: { nothing: {} } }

const endpointWithSecret = endpointView
  .extend({ secret: z.string().describe('The new signing secret. Store it now: it is not shown again.') })
  .meta({ id: 'EndpointWithSecret', description: 'The endpoint with its new secret.' })

export const responseWithSecret = {
  response: z.object({ success, data: endpointWithSecret }),
  responseDescription: 'The endpoint and the new secret.',
  responseExamples: { endpoint: { success: true, data: { ...exampleView, secret: EXAMPLE_SECRET } } },
}

const schema = operation({
  operationId: 'getEndpoint',
  tags: ['Endpoint'],
  summary: 'Get your endpoint and its health',
  description:
    'Returns the URL of your endpoint, its health with the reason, what waits, and the candidate with its certification.',
  ...emptyBody,
  ...endpointResponse,
  errors: [noObject()],
})

/** POST /get-endpoint (extension): where a partner's webhooks go, and how the endpoint is doing. */
export const getEndpoint: FastifyPluginAsyncZod<Pick<RouteDependencies, 'sql'>> = async (app, { sql }) => {
  app.post('/get-endpoint', {
    schema,
    handler: async ({ partnerId }) => ({ success: true as const, data: await viewOf(sql, partnerId) }),
  })
}
