import { z } from 'zod'
import { LARGEST_GAIN, TIME_REMAINING } from '../domain/event-payloads.ts'
import { environments } from '../domain/environment.ts'
import { milestoneNames, statuses } from '../domain/milestones.ts'
import { email, ficoRange, id, leadId, name, notes, partnerId, phone, timestamp } from './fields.ts'

/** The wire: every request and answer of the API, stated once. Field rules: interface specification, section 2. */

const optionalNote = '`null` and the empty string count as absent.'

export const createLeadBody = z.object(
  {
    first_name: name.meta({ description: 'Borrower’s first name; trimmed.' }),
    last_name: name.meta({ description: 'Borrower’s last name; trimmed.' }),
    email: email.meta({ description: 'Borrower’s e-mail address.' }),
    phone: phone.meta({ description: 'Digits, hyphens, spaces and `+`, with at least one digit.' }),
    partner_lead_id: partnerId.nullish().meta({
      description: `Your own identifier of the borrower: recommended, webhooks carry it. ${optionalNote}`,
    }),
    fico_range: ficoRange.nullish().meta({
      description: `\`<low>-<high>\` within 300 to 850: \`500-549\`, \`550-579\`, \`580-619\`, \`620-659\`. ${optionalNote}`,
    }),
    loan_officer_id: partnerId
      .nullish()
      .meta({ description: `The loan officer who handles the borrower. ${optionalNote}` }),
    notes: notes
      .nullish()
      .meta({ description: `Why the application was declined; stored, never returned. ${optionalNote}` }),
  },
  'must be a JSON object',
)

export const leadBody = z.object({ lead_id: leadId }, 'must be a JSON object with lead_id, which is required')

export const idempotencyKey = z.string().regex(/^[\x21-\x7e]{1,255}$/)

const success = z.literal(true)

/** Always a string; to TypeScript an object's other fields are of all its fields' types. */
const metadataField = z.custom<string | number>((value) => typeof value === 'string').meta({ type: 'string' })

export const createLeadAnswer = z.object({
  success,
  message: z.string(),
  lead_id: id,
  partner_lead_id: z.string().optional().meta({ description: 'As it was sent; absent when none was.' }),
})

export const getLeadAnswer = z.object({
  success,
  data: z
    .object({
      id,
      lead_id: id.meta({ description: 'The same as `id`.' }),
      partner_id: id,
      partner_lead_id: z.string().optional(),
      first_name: z.string(),
      last_name: z.string(),
      email: z.string(),
      phone: z.string(),
      status: z.enum(statuses).meta({ description: 'The furthest milestone reached.' }),
      fico_range: z.string().optional(),
      loan_officer_id: z.string().optional(),
      created_at: timestamp,
      updated_at: timestamp,
      loan_product: z.string().optional(),
      property_state: z.string().optional(),
    })
    .catchall(metadataField)
    .meta({ description: 'The lead, with its metadata beside its own fields.' }),
})

const gain = z.int().min(-LARGEST_GAIN).max(LARGEST_GAIN)

export const scoreGains = z.object({
  experian_gain: gain,
  equifax_gain: gain,
  transunion_gain: gain,
  estimated_time_remaining: z.string().regex(TIME_REMAINING),
})

export const eventPayload = z
  .union([scoreGains, z.object({ partner_lead_id: z.string() }), z.null()])
  .meta({ description: '`null` when the event has no payload.' })

export const getEventsAnswer = z.object({
  success,
  data: z
    .array(
      z.object({ event_name: z.enum(milestoneNames), event_payload: eventPayload, created_at: timestamp }),
    )
    .meta({ description: 'The complete history, oldest first.' }),
})

export const messageAnswer = z.object({ success, message: z.string() })

export const pingAnswer = messageAnswer.extend({
  environment: z.enum(environments),
  time: timestamp,
})
