import { z } from 'zod'
import type { requestsOf } from '../statements/own-endpoint.ts'
import { certificationChecks, certificationResults, checkResults } from '../decisions/certification.ts'
import { formatTimestamp } from '../../../core/values/timestamps.ts'
import { timestamp } from '../../../core/http/fields.ts'
import { errorCode, httpStatus } from '../../../core/http/response-fields.ts'

const settled = timestamp.nullable()

const certification = z
  .object({
    url: z.string().describe('The URL that was certified.'),
    state: z
      .enum(['running', ...certificationResults])
      .describe('`superseded`: the candidate was replaced or canceled before the certification ended.'),
    requested_at: timestamp,
    finished_at: settled.describe('`null` while it runs.'),
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
  .describe('The latest certification; `null` if none was requested.')

const lastTest = z
  .object({
    state: z.enum(['running', 'accepted', 'failed']).describe('`accepted`: with a 2xx status.'),
    requested_at: timestamp,
    finished_at: settled,
    webhook_id: z.string().nullable().describe('The header `webhook-id`; `null` while it runs.'),
    status: httpStatus,
    duration_ms: z.int().nullable().describe('How long the response took; `null` while it runs.'),
    error_code: errorCode,
    hint: z.string().nullable().describe('What to do about a failure.'),
  })
  .meta({ id: 'TestRequest' })
  .nullable()
  .describe('The latest test request; `null` if none was made.')

/** What a partner has asked for its endpoint, and what came of it. */
export const requestFields = {
  candidate: z
    .object({
      url: z.string().describe('The URL that set-endpoint got.'),
      requested_at: timestamp,
    })
    .meta({ id: 'EndpointCandidate' })
    .nullable()
    .describe('The URL that is to take the place of `url`; `null` if there is none.'),
  certification,
  last_test: lastTest,
}

const orNull = (at: Date | null) => at && formatTimestamp(at)

type Requests = Awaited<ReturnType<typeof requestsOf>>

export function requestsToWire({ candidate, certification: latest, ping }: Requests) {
  return {
    candidate: candidate
      ? { url: candidate.url, requested_at: formatTimestamp(candidate.requested_at) }
      : null,
    certification: latest
      ? {
          url: latest.url,
          state: latest.result ?? ('running' as const),
          requested_at: formatTimestamp(latest.requested_at),
          finished_at: orNull(latest.finished_at),
          checks: latest.reports,
        }
      : null,
    last_test: ping ? describeTest(ping) : null,
  }
}

function describeTest({
  requested_at: requestedAt,
  finished_at: finishedAt,
  outcome,
}: NonNullable<Requests['ping']>) {
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

/** None, for examples. */
export const noRequests = { candidate: null, certification: null, last_test: null }
