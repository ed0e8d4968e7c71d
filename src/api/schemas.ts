import { z } from 'zod'
import { LARGEST_GAIN, TIME_REMAINING } from '../domain/event-payloads.ts'
import { milestoneNames } from '../domain/milestones.ts'
import { invalidPayload, unknownLead } from './errors.ts'
import { leadId, timestamp } from './fields.ts'
import { notFields } from './unknown-fields.ts'

/** What several routes take or answer. What only one does is in that route's file. */

/** The body of an extension, which takes no other fields: one that is misspelt would be ignored. */
export function strictBody<Shape extends z.ZodRawShape>(shape: Shape, needs = '') {
  return z.strictObject(shape, strictly(shape, `must be a JSON object${needs && `; ${needs}`}`))
}

/** The messages of a strict object: what it `must` be, and which fields it has. */
export const strictly = (shape: object, must: string) => ({
  error: ({ code, ...issue }: z.core.$ZodRawIssue) =>
    code === 'unrecognized_keys' ? notFields(issue['keys'] as string[], Object.keys(shape)) : must,
})

export const leadBody = z.object({ lead_id: leadId }, 'must be a JSON object; lead_id is required')
/** The errors of a route whose body must name a lead. */
export const leadErrors = [invalidPayload('Invalid request: lead_id is required.'), unknownLead()]

export const pageLimit = z
  .int('must be an integer')
  .min(1, 'must be at least 1')
  .max(100, 'must be at most 100')
  .default(50)
  .describe('Maximum number of results; 50 by default.')

export const success = z.literal(true)

export const messageResponse = z.object({ success, message: z.string() })

const gain = z.int().min(-LARGEST_GAIN).max(LARGEST_GAIN)

export const scoreGains = z.object({
  experian_gain: gain,
  equifax_gain: gain,
  transunion_gain: gain,
  estimated_time_remaining: z.string().regex(TIME_REMAINING),
})

export const event = z.object({
  event_name: z.enum(milestoneNames),
  event_payload: z
    .union([scoreGains, z.object({ partner_lead_id: z.string() }), z.null()])
    .describe('`null` when the event has no payload.'),
  created_at: timestamp,
})
