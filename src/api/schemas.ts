import { z } from 'zod'
import { milestoneNames } from '../domain/milestones.ts'
import { text } from './text.ts'

/** The wire: every request and answer of the API, stated once. Field rules: interface specification, section 2. */

const required = (what: string) => ({
  error: ({ input }: { input?: unknown }) => (input === undefined ? 'is required' : what),
})

/** An optional field: `null` and the empty string count as absent. */
function optional<Schema extends z.ZodType<string>>(schema: Schema) {
  return z.preprocess((value) => (value === null || value === '' ? undefined : value), schema.optional())
}

const ficoRange = text({ max: 7 }).refine((value) => {
  const [, low = 0, high = 0] = (/^(\d{3})-(\d{3})$/.exec(value) ?? []).map(Number)
  return low >= 300 && low <= high && high <= 850
}, 'must be <low>-<high> between 300 and 850, for example 550-579')

const phone = text({ max: 32 })
  .regex(/^[\d +-]*$/, 'may have digits, hyphens, spaces and + only')
  .regex(/\d/, 'must have at least one digit')

export const createLeadBody = z.object(
  {
    first_name: text({ min: 1, max: 100, trim: true }),
    last_name: text({ min: 1, max: 100, trim: true }),
    email: text({ max: 254 }).pipe(z.email('must be a valid e-mail address')),
    phone,
    partner_lead_id: optional(text({ max: 255 })),
    fico_range: optional(ficoRange),
    loan_officer_id: optional(text({ max: 255 })),
    notes: optional(text({ max: 10_000, breaks: true })),
  },
  'must be a JSON object',
)

/** Any integer is a well-formed id; one beyond 32 bits is simply nobody's. */
const leadId = z.number(required('must be an integer')).refine(Number.isInteger, 'must be an integer')

export const leadBody = z.object({ lead_id: leadId }, 'must be a JSON object')

/** Names that metadata can never take: it must not shadow or change a lead. */
const leadFields = [
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
]
const FIELD_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/

const metadataValue = text({ max: 2000, breaks: true }).nullable()
const propertyState = text({ max: 2 })
  .regex(/^[A-Za-z]{2}$/, 'must be a two-letter state code')
  .overwrite((state) => state.toUpperCase())

export const updatePartnerInfoBody = z
  .object(
    { lead_id: leadId, loan_product: metadataValue.optional(), property_state: propertyState.nullish() },
    'must be a JSON object',
  )
  .catchall(metadataValue)
  .superRefine(({ lead_id: _, ...fields }, context) => {
    for (const name of Object.keys(fields)) {
      if (leadFields.includes(name))
        context.addIssue({
          code: 'custom',
          path: [name],
          message: 'is a field of the lead and cannot be set',
        })
      else if (!FIELD_NAME.test(name)) {
        context.addIssue({
          code: 'custom',
          path: [name],
          message: 'is not a valid name: a letter, then at most 63 letters, digits, "_", "." or "-"',
        })
      }
    }
  })

export const idempotencyKey = z.string().regex(/^[\x21-\x7e]{1,255}$/)

const timestamp = z.string().regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)

export const failure = z.object({
  success: z.literal(false),
  error: z.object({ code: z.string(), message: z.string() }),
})

export const createLeadAnswer = z.object({
  success: z.literal(true),
  message: z.string(),
  lead_id: z.int(),
  partner_lead_id: z.string().optional(),
})

export const getLeadAnswer = z.object({
  success: z.literal(true),
  data: z
    .object({
      id: z.int(),
      lead_id: z.int(),
      partner_id: z.int(),
      partner_lead_id: z.string().optional(),
      first_name: z.string(),
      last_name: z.string(),
      email: z.string(),
      phone: z.string(),
      status: z.enum(milestoneNames),
      fico_range: z.string().optional(),
      loan_officer_id: z.string().optional(),
      created_at: timestamp,
      updated_at: timestamp,
    })
    .catchall(z.union([z.string(), z.int()])),
})

export const getEventsAnswer = z.object({
  success: z.literal(true),
  data: z.array(
    z.object({
      event_name: z.enum(milestoneNames),
      event_payload: z.record(z.string(), z.union([z.string(), z.int()])).nullable(),
      created_at: timestamp,
    }),
  ),
})

export const messageAnswer = z.object({ success: z.literal(true), message: z.string() })

export const pingAnswer = messageAnswer.extend({
  environment: z.enum(['sandbox', 'production']),
  time: timestamp,
})
