import { z } from 'zod'
import {
  type Certification,
  certificationChecks,
  certificationStates,
  checkResults,
} from '../../../core/endpoints/decisions/certification.ts'
import { formatTimestamp } from '../../../core/values/timestamps.ts'
import { timestamp } from '../../../core/http/fields.ts'

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
}

interface Requests {
  candidate_url: string | null
  candidate_at: Date | null
  certification: Certification | null
}

export function requestsToWire({ candidate_url: url, candidate_at: at, certification: latest }: Requests) {
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
export const noRequests = { candidate: null, certification: null }
