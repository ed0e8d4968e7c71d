import { z } from 'zod'
import { timestamp } from '../../../../core/http/fields.ts'
import { formatTimestamp } from '../../../../core/values/timestamps.ts'
import { faultNames } from '../decisions/fault.ts'
import type { readFaults } from '../statements/faults.ts'

export const fault = z
  .object({
    fault: z.enum(faultNames),
    call: z.string().nullable().describe('The call that it happens to; `null` for `no_scores`.'),
    active: z.boolean().describe('Whether it still happens: some are left, and it has not ended.'),
    times: z.int().describe('How often it was to happen.'),
    left: z.int().describe('How often it would still happen.'),
    retry_after: z.int().nullable().describe('The seconds in its `Retry-After`; `null` if it has none.'),
    happened: z
      .array(
        z
          .object({
            at: timestamp,
            request_id: z
              .string()
              .nullable()
              .describe('The call’s `X-Request-Id`; `null` for a score update.'),
            lead_id: z
              .int()
              .nullable()
              .describe('The lead whose score update was left out; `null` for a call.'),
          })
          .meta({ id: 'FaultHappened' }),
      )
      .describe('When it happened last and to what, newest first; at most 20.'),
    injected_at: timestamp,
    ends_at: timestamp.describe('An hour after it was injected, or when it was cleared.'),
  })
  .meta({ id: 'Fault' })

type Row = Awaited<ReturnType<typeof readFaults>>[number]

export const faultView = (row: Row): z.input<typeof fault> => ({
  fault: row.fault,
  call: row.call || null,
  active: row.is_active,
  times: row.times,
  left: row.times_left,
  retry_after: row.retry_after,
  happened: row.happened.map(({ at, request_id: requestId, lead_id: leadId }) => ({
    at: formatTimestamp(new Date(at * 1000)),
    request_id: requestId ?? null,
    lead_id: leadId ?? null,
  })),
  injected_at: formatTimestamp(row.injected_at),
  ends_at: formatTimestamp(row.ends_at),
})

/** For the reference. */
export const faultExample: z.input<typeof fault> = {
  fault: 'unavailable',
  call: 'update-partner-info',
  active: true,
  times: 2,
  left: 1,
  retry_after: 1,
  happened: [
    { at: '2026-03-02 15:04:05', request_id: '0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e', lead_id: null },
  ],
  injected_at: '2026-03-02 15:04:00',
  ends_at: '2026-03-02 16:04:00',
}
