import { z } from 'zod'
import { environments } from '../values/environment.ts'
import { statuses } from '../leads/decisions/milestones.ts'
import { anyCloseReasonNames, closeReasons, serviceCloseReasons } from '../leads/decisions/reasons.ts'
import { type Fault, invalidRequest, unknownLead } from './errors.ts'
import { integer, leadId } from './fields.ts'
import { openEnum } from './openapi/json-schema.ts'
import { notAmong } from './unknown-fields.ts'
import { message, success } from './response-fields.ts'

/** What several routes take or answer. What only one does is in that route's file. */

/** The body of an extension, which takes no other fields: one that is misspelt would be ignored. */
export function strictBody<Shape extends z.ZodRawShape>(shape: Shape, needs = '') {
  return z.strictObject(shape, strictly(shape, `must be a JSON object${needs && `; ${needs}`}`))
}

/** The messages of a strict object: what it `must` be, and which fields it has. */
export const strictly = (shape: object, must: string) => ({
  error: ({ code }: z.core.$ZodRawIssue) =>
    code === 'unrecognized_keys' ? notAmong(Object.keys(shape)) : must,
})

/** What a rule about several fields says of each, for `faultsOf`. Their paths begin where the rule stands. */
export const aboutFields = (...faults: readonly Fault[]) => ({ params: { faults } })

/** The message of a rule that just one of two fields is sent. */
export const eitherOr = (one: string, other: string) => ({
  message: `must have either ${one} or ${other}, and not both`,
  ...aboutFields(
    { field: one, problem: `must be sent if ${other} is not, and must not be sent with it` },
    { field: other, problem: `must be sent if ${one} is not, and must not be sent with it` },
  ),
})

export const leadBody = z.object({ lead_id: leadId }, 'must be a JSON object; lead_id is required')
/** The errors of a route whose body must name a lead. */
export const leadErrors = [invalidRequest({ field: 'lead_id', problem: 'is required' }), unknownLead()]

export const pageLimit = integer(1, 100).default(50).describe('Maximum number of results; 50 by default.')

export const messageResponse = z.object({ success, message })

export const leadStatus = openEnum(
  'LeadStatus',
  statuses,
  'The furthest milestone reached. New ones may be added.',
)

export const closeReason = openEnum(
  'CloseReason',
  anyCloseReasonNames,
  `Why a lead is closed. ${Object.entries({ ...closeReasons, ...serviceCloseReasons })
    .map(([name, meaning]) => `\`${name}\`: ${meaning}.`)
    .join(' ')} New ones may be added.`,
)

/** Of the field that says when a lead was closed. */
export const whatClosed =
  '30 days after `mortgage_ready`, by your close-lead, or by our staff, for example because the borrower dropped out. From then on no milestones are recorded. Closing is no milestone: list-events has it, get-events does not.'

export const environment = z.enum(environments).meta({ id: 'Environment' })

export const stringMap = z
  .record(z.string(), z.string())
  .meta({ id: 'StringMap', description: 'Texts by their names.' })
