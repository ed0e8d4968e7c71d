import { z } from 'zod'
import { timestamp } from '../../../../core/http/fields.ts'
import { errorCode, httpStatus, success } from '../../../../core/http/response-fields.ts'
import { formatTimestamp } from '../../../../core/values/timestamps.ts'
import { certificationResults, checkResults } from '../../../self-service/decisions/certification.ts'
import {
  describeRehearsal,
  goodReceiver,
  type RehearsalCheck,
  rehearsalChecks,
  requestsOf,
} from '../../../self-service/decisions/rehearsal.ts'
import {
  describeRequest,
  madeUpLead,
  type RehearsalReport,
  verdictOf,
} from '../../../self-service/decisions/rehearsal-report.ts'
import type { latestRehearsal } from '../../../self-service/statements/rehearsals.ts'

const request = z
  .object({
    webhook_id: z.string().describe('The header `webhook-id`, by which you find it in your log.'),
    type: z.string().describe('The `type` in the body.'),
    sequence: z.int(),
    sent: z.string().nullable().describe('For people: what was not as usual; `null` if nothing was.'),
    status: httpStatus,
    duration_ms: z.int(),
    error_code: errorCode,
  })
  .meta({ id: 'RehearsedWebhook' })

const check = z
  .object({
    check: z.enum(rehearsalChecks).meta({ id: 'RehearsalCheckName' }).describe('Which check it is.'),
    sent: z.string().describe('For people: what we send.'),
    good_receiver: z.string().describe('For people: what a good receiver does.'),
    look_for: z
      .string()
      .describe('For people: what a good receiver has afterwards. Only your own records show it.'),
    lead_id: z.int().describe('The made-up lead.'),
    result: z
      .enum(checkResults)
      .nullable()
      .describe('`not_judged`: it was not sent. `null` until the check is over.'),
    received: z.string().nullable().describe('For people: what came; `null` until the check is over.'),
    duration_ms: z
      .int()
      .nullable()
      .describe('How long your responses took together; `null` if none was asked for.'),
    hint: z.string().nullable().describe('What to change; `null` if the check passed.'),
    requests: z.array(request).describe('What was sent so far.'),
  })
  .meta({ id: 'RehearsalCheck' })

const rehearsal = z
  .object({
    url: z.string().describe('The URL that was rehearsed.'),
    state: z
      .enum(['running', ...certificationResults])
      .describe('`superseded`: your endpoint got another URL before the rehearsal ended.'),
    verdict: z.string().nullable().describe('For people; `null` while it runs.'),
    requested_at: timestamp,
    finished_at: timestamp.nullable().describe('`null` while it runs.'),
    checks: z.array(check).describe('The checks that you asked for, in their order.'),
  })
  .meta({ id: 'Rehearsal' })

export const rehearsalResponse = z.object({ success, data: rehearsal })

export const latestRehearsalResponse = z.object({
  success,
  data: rehearsal.nullable().describe('`null` if your endpoint has not been rehearsed.'),
})

type Row = NonNullable<Awaited<ReturnType<typeof latestRehearsal>>>

export function rehearsalView(row: Row): z.input<typeof rehearsal> {
  const checks = row.checks.map((name) => checkView(name, row.id, row.reports[name] ?? {}))
  return {
    url: row.url ?? '',
    state: row.result ?? 'running',
    verdict: verdictOf(row.result, checks),
    requested_at: formatTimestamp(row.requested_at),
    finished_at: row.finished_at && formatTimestamp(row.finished_at),
    checks,
  }
}

function checkView(
  name: RehearsalCheck,
  rehearsalId: number,
  report: RehearsalReport,
): z.input<typeof check> {
  const { does, leaves } = goodReceiver(name)
  const { result = null, received = null, duration_ms: durationMs = null, hint = null } = report
  const planned = requestsOf(name)
  return {
    check: name,
    sent: describeRehearsal(name),
    good_receiver: does,
    look_for: leaves,
    lead_id: madeUpLead(rehearsalId, name),
    result,
    received,
    duration_ms: durationMs,
    hint,
    requests: (report.requests ?? []).flatMap((sent, index) => {
      const plan = planned[index]
      if (plan === undefined) return []
      const common = { webhook_id: sent.id, status: sent.status, duration_ms: sent.durationMs }
      return { ...common, ...describeRequest(plan), error_code: sent.errorCode }
    }),
  }
}

/** For the reference. */
export const rehearsalExample: z.input<typeof rehearsal> = {
  url: 'https://hooks.lender.example.com/v2',
  state: 'failed',
  verdict: '1 of 1 check did not pass: timeout.',
  requested_at: '2026-03-09 10:00:00',
  finished_at: '2026-03-09 10:00:06',
  checks: [
    {
      check: 'timeout',
      sent: describeRehearsal('timeout'),
      good_receiver: goodReceiver('timeout').does,
      look_for: goodReceiver('timeout').leaves,
      lead_id: 2_000_000_127,
      result: 'failed',
      received: 'status 409 (client_account_created, request 3 of 4)',
      duration_ms: 96,
      hint: 'Respond with 200 to it, whether you have handled it by then or not.',
      requests: [
        {
          webhook_id: 'evt_0d5f7c1e-93a4-8b26-8e57-1f20c4b6a9d8',
          type: 'lead_received',
          sequence: 1,
          sent: null,
          status: 200,
          duration_ms: 31,
          error_code: null,
        },
      ],
    },
  ],
}
