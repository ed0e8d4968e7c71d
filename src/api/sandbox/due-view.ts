import { z } from 'zod'
import { nextDue } from '../../db/leads/next-due.ts'
import type { LeadClock } from '../../domain/lead-clock.ts'
import { formatTimestamp } from '../../domain/timestamps.ts'
import { timestamp } from '../fields.ts'

/** A moment of a lead's time, as it is shown. */
export const leadTime = (ms: number) => formatTimestamp(new Date(ms))

export const dueView = z
  .object({ what: z.enum(['score_update', 'retry', 'end']), at: timestamp })
  .nullable()
  .describe('What is due next, in the lead’s time; `null` for nothing.')

export function dueOf(clock: LeadClock): z.output<typeof dueView> {
  const due = nextDue(clock)
  return due === undefined ? null : { what: due.what, at: leadTime(due.at) }
}
