import { z } from 'zod'
import type { OptionalField, requiredFields } from '../leads/decisions/lead-fields.ts'
import { id } from './fields.ts'

/** Fields that several responses and webhooks have, with what the reference says of each. */

export const success = z.literal(true).describe('`true` in every response but those of errors.')
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

/** What a lead's fields mean where they are returned. */
export const leadFieldMeanings: Record<OptionalField | (typeof requiredFields)[number], string> = {
  first_name: 'Borrower’s first name.',
  last_name: 'Borrower’s last name.',
  email: 'Borrower’s email address.',
  phone: 'Borrower’s phone number, as you sent it.',
  partner_lead_id: 'Your own identifier for the borrower.',
  fico_range: 'The borrower’s FICO range when you referred them.',
  loan_officer_id: 'The loan officer who handles the borrower.',
  notes: 'Why the application was declined.',
}
