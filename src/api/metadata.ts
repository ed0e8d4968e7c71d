import { z } from 'zod'
import { ficoRange, leadId, notes, partnerId } from './fields.ts'
import { text } from './text.ts'

/** What the service owns and who the borrower is: neither can be changed, nor shadowed by metadata. */
const fixedFields = [
  'id',
  'partner_id',
  'first_name',
  'last_name',
  'email',
  'phone',
  'status',
  'metadata',
  'created_at',
  'updated_at',
]
/** Letters with their marks, digits, punctuation, symbols and the space: nothing that is not seen. */
const FIELD_NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}$/u

const value = text({ max: 2000, breaks: true }).nullable()

const propertyState = text({ max: 2 })
  .regex(/^[A-Za-z]{2}$/, 'must be a two-letter state code')
  .overwrite((state) => state.toUpperCase())
  .meta({ pattern: '^[A-Za-z]{2}$' })

const ofLead = 'as in create-lead; `null` and the empty string remove it.'

/** Request of update-partner-info: interface specification, section 4.4. */
export const updatePartnerInfoBody = z
  .object(
    {
      lead_id: leadId,
      loan_product: value
        .optional()
        .meta({ description: 'Type of loan product, e.g. FHA, VA, Conventional; `null` removes it.' }),
      property_state: propertyState.nullish().meta({
        description: 'Two-letter state code of the property, stored in upper case; `null` removes it.',
      }),
      partner_lead_id: partnerId.nullish().meta({
        description: `Your own identifier of the borrower: ${ofLead} Webhooks of later events carry it; those that are queued stay as they are.`,
      }),
      loan_officer_id: partnerId.nullish().meta({ description: `The loan officer: ${ofLead}` }),
      fico_range: ficoRange.nullish().meta({ description: `\`<low>-<high>\` within 300 to 850: ${ofLead}` }),
      notes: notes.nullish().meta({ description: `Stored, never returned: ${ofLead}` }),
    },
    'must be a JSON object with lead_id, which is required',
  )
  .catchall(value)
  .superRefine(refuseNames, { when: ({ value: body }) => typeof body === 'object' && body !== null })
  .meta({
    propertyNames: {
      pattern: FIELD_NAME.source,
      not: { enum: [...fixedFields, '__proto__'] },
    },
  })

/** Beside the schema's other faults, so that the answer names them all. */
function refuseNames({ lead_id: _, ...fields }: object & { lead_id?: unknown }, context: z.RefinementCtx) {
  for (const field of Object.keys(fields)) {
    const message = faultOf(field)
    if (message !== undefined) context.addIssue({ code: 'custom', path: [field || '""'], message })
  }
}

/** What is wrong with a field's name, if anything. */
export function faultOf(field: string): string | undefined {
  if (fixedFields.includes(field)) return 'is a field of the lead and cannot be set'
  // as a name of JavaScript's own it would be lost, or worse
  if (field === '__proto__') return 'is not a name that can be stored'
  if (FIELD_NAME.test(field)) return undefined
  return 'is not a valid name: 1 to 64 printable characters'
}
