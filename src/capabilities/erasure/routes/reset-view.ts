import { z } from 'zod'
import { timestamp } from '../../../core/http/fields.ts'
import { formatTimestamp } from '../../../core/values/timestamps.ts'
import type { ResetState } from '../statements/resets.ts'

/** A reset as its partner sees it. */
export const resetView = z
  .object({
    state: z
      .enum(['none', 'running', 'done'])
      .describe('`none`: you never reset. `running`: leads are being erased. `done`: all are erased.'),
    requested_at: timestamp
      .nullable()
      .describe('Leads created until then are erased; `null` if you never reset.'),
    finished_at: timestamp.nullable().describe('`null` until all are erased.'),
    leads: z.int().describe('How many leads you had, apart from those under a legal hold.'),
    leads_left: z.int().describe('How many of them are still being erased.'),
    leads_held: z.int().describe('How many leads are under a legal hold, and stay.'),
  })
  .meta({ id: 'SandboxReset' })

export const exampleReset: z.output<typeof resetView> = {
  state: 'running',
  requested_at: '2026-03-09 10:30:00',
  finished_at: null,
  leads: 12,
  leads_left: 12,
  leads_held: 0,
}

const NONE: ResetState = { requestedAt: new Date(0), finishedAt: null, leads: 0, left: 0, held: 0 }

export function resetToWire(reset: ResetState | undefined): z.output<typeof resetView> {
  const { requestedAt, finishedAt, leads, left, held } = reset ?? NONE
  const known = finishedAt === null ? 'running' : 'done'
  return {
    state: reset === undefined ? 'none' : known,
    requested_at: reset === undefined ? null : formatTimestamp(requestedAt),
    finished_at: finishedAt && formatTimestamp(finishedAt),
    leads,
    leads_left: left,
    leads_held: held,
  }
}
