import { z } from 'zod'
import { leadId } from './fields.ts'
import { text } from './text.ts'

/** Names that metadata can never take: it must not shadow or change a lead. */
const leadFields = new Set([
  'id',
  'lead_id',
  'partner_id',
  'partner_lead_id',
  'first_name',
  'last_name',
  'email',
  'phone',
  'status',
  'fico_range',
  'loan_officer_id',
  'notes',
  'metadata',
  'created_at',
  'updated_at',
])
const FIELD_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/

const value = text({ max: 2000, breaks: true }).nullable()

const propertyState = text({ max: 2 })
  .regex(/^[A-Za-z]{2}$/, 'must be a two-letter state code')
  .overwrite((state) => state.toUpperCase())
  .meta({ pattern: '^[A-Za-z]{2}$' })

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
    },
    'must be a JSON object with lead_id, which is required',
  )
  .catchall(value)
  .superRefine(refuseNames, { when: ({ value: body }) => typeof body === 'object' && body !== null })
  .meta({
    propertyNames: {
      pattern: FIELD_NAME.source,
      not: { enum: [...leadFields].filter((field) => field !== 'lead_id') },
    },
  })

/** Beside the schema's other faults, so that the answer names them all. */
function refuseNames({ lead_id: _, ...fields }: object & { lead_id?: unknown }, context: z.RefinementCtx) {
  for (const field of Object.keys(fields)) {
    const message = faultOf(field)
    if (message !== undefined) context.addIssue({ code: 'custom', path: [field || '""'], message })
  }
}

/** What is wrong with a metadata field's name, if anything. */
export function faultOf(field: string): string | undefined {
  if (leadFields.has(field)) return 'is a field of the lead and cannot be set'
  if (FIELD_NAME.test(field)) return undefined
  return 'is not a valid name: a letter, then at most 63 letters, digits, "_", "." or "-"'
}
