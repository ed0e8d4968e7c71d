import { z } from 'zod'
import { milestoneNames, milestones, statuses } from '../leads/milestones.ts'
import { anyCloseReasonNames, closeReasons, meaningsOf, serviceCloseReasons } from '../leads/reasons.ts'
import { environments } from '../values.ts'
import { invalidRequest, unknownLead } from './errors.ts'
import { notAmong } from './failures.ts'
import { id, integer, ownLeadId } from './fields.ts'

/** Where OpenAPI keeps the schema of this name. */
export const refTo = (schemaId: string) => `#/components/schemas/${schemaId}`

/** Names that may become more: a generated client that accepts only today's would refuse a whole response. */
export const openEnum = (schemaId: string, names: readonly string[], description: string) =>
  z.union([z.enum(names), z.string()]).meta({ id: schemaId, description })

/** In examples only: what the reference signs its example webhooks with. */
export const EXAMPLE_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'

/** Fields that several responses and webhooks have, with what the reference says of each. */

export const success = z.literal(true).describe('`true` in every response except errors.')
export const message = z.string().describe('For people. Do not parse it: it may change.')

export const ofLead = id.describe('The lead: its `lead_id` in requests.')
export const ofPartner = id.describe('Your account.')
export const ofEvent = z.string().describe('The event. Its webhook has the same `webhook-id`.')
export const webhookSequence = z
  .int()
  .describe('Counts the lead’s webhooks from 1; it does not count other events.')
export const webhookSequenceOrNone = z
  .int()
  .nullable()
  .describe('Its place among the lead’s webhooks; `null` for an event that is not sent.')
export const yourLeadId = z
  .string()
  .nullable()
  .describe('Your own identifier for the borrower; `null` if you sent none.')

export const httpStatus = z
  .int()
  .nullable()
  .describe('The HTTP status of your endpoint; `null` if it did not respond.')
export const errorCode = z
  .string()
  .nullable()
  .describe(
    'What went wrong, for example `http_error`, `timeout` or `connection_refused`; `null` if nothing did. New ones may be added.',
  )
export const attemptNumber = z.int().describe('Counts the requests with this `webhook-id` from 1.')

/** The body of an extension. It refuses unknown fields: a misspelt one would be ignored. */
export function strictBody<Shape extends z.ZodRawShape>(shape: Shape, needs = '') {
  const must = `must be a JSON object${needs && `; ${needs}`}`
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? notAmong(Object.keys(shape)) : must),
  })
}

/** The refusal of a body that has both of two fields, or neither. */
export const eitherOr = (one: string, other: string) => ({
  path: [one],
  message: `or ${other} must be sent, and not both`,
})

export const leadBody = z.object({ lead_id: ownLeadId }, 'must be a JSON object; lead_id is required')
/** The errors of a route whose body must name a lead. */
export const leadErrors = [invalidRequest({ field: 'lead_id', problem: 'is required' }), unknownLead()]

export const pageLimit = integer(1, 100).default(50).describe('Maximum number of results; 50 by default.')

export const messageResponse = z.object({ success, message })

export const leadStatus = openEnum(
  'LeadStatus',
  statuses,
  'The furthest milestone reached. New ones may be added.',
)

export const eventName = openEnum(
  'EventName',
  milestoneNames,
  `A milestone. New ones may be added.\n\n${milestoneNames.map((name) => `- \`${name}\`: ${milestones[name].meaning}`).join('\n')}`,
)

export const closeReason = openEnum(
  'CloseReason',
  anyCloseReasonNames,
  `Why a lead is closed. ${meaningsOf({ ...closeReasons, ...serviceCloseReasons })} New ones may be added.`,
)

/** The description of `closed_at`. */
export const whatClosed =
  '30 days after `mortgage_ready`, by your close-lead, or by our staff, for example because the borrower dropped out. From then on no milestones are recorded. Closing is not a milestone: list-events has it, get-events does not.'

export const environment = z.enum(environments).meta({ id: 'Environment' })

export const stringMap = z
  .record(z.string(), z.string())
  .meta({ id: 'StringMap', description: 'Texts by their names.' })
