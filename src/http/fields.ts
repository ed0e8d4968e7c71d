import { z } from 'zod'
import { LARGEST_ID } from '../values.ts'
import type { OptionalField } from '../leads/lead-fields.ts'

/** The fields of requests and responses. Their rules come from the interface specification, section 2.1. */

// C0, DEL and C1, for patterns in JSON Schema; the second leaves out tab and line breaks
const CONTROL = String.raw`\u0000-\u001f\u007f-\u009f`
const CONTROL_BUT_BREAKS = String.raw`\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f`

interface TextRule {
  /** Unicode code points: a surrogate pair counts as one. */
  max: number
  /** Removes whitespace around it; with `if blank`, only if there is nothing else. */
  trimmed?: boolean | 'if blank'
  /** Not empty. */
  filled?: boolean
  /** Whether it may contain tabs and line breaks. */
  breaks?: boolean
}

/**
 * Text that PostgreSQL and JSON store unchanged: no control characters, no lone surrogates. The first fault ends the checks,
 * and the length comes first, so that no check reads a long text.
 */
export function text({ max, trimmed = false, filled = false, breaks = false }: TextRule) {
  const control = breaks ? CONTROL_BUT_BREAKS : CONTROL
  const forbidden = breaks ? /[^\P{Cc}\t\n\r]/u : /\p{Cc}/u
  const string = z.string({ error: requiredOr('must be a string') })
  const shaped = trimmed
    ? string.overwrite((value) => (trimmed === true || value.trim() === '' ? value.trim() : value))
    : string
  return (
    (filled ? shaped.min(1, stopping('must not be empty')) : shaped)
      .max(max, stopping(`must have at most ${max} characters`))
      .refine(...without(forbidden, 'must not contain control characters'))
      .refine((value) => value.isWellFormed(), stopping('must be valid Unicode'))
      // JSON Schema cannot express a refinement
      .meta({ pattern: filled ? `^[^${control}]*[^\\s${control}][^${control}]*$` : `^[^${control}]*$` })
  )
}

interface Found {
  input?: unknown
}

/** Options of a zod rule: its error, after which zod checks no other rule of the field. */
const stopping = (error: string | ((found: Found) => string)) => ({ error, abort: true })

/** A rule that no character matches `forbidden`. The error names the first: many look like another one, or are invisible. */
function without(forbidden: RegExp, rule: string) {
  const error = ({ input }: Found) =>
    `${rule}, but it has ${characterOf(forbidden.exec(String(input))?.[0] ?? '')}`
  return [(value: string) => !forbidden.test(value), stopping(error)] as const
}

function characterOf(character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  return /[\p{C}\p{Z}\p{M}]/u.test(character) ? code : `"${character}" (${code})`
}

function requiredOr(message: string) {
  return ({ input }: Found) => (input === undefined ? 'is required' : message)
}

/** The error for what must be a number. */
export function numberOr(message: string) {
  const other = requiredOr(message)
  return ({ input }: Found) =>
    typeof input === 'string' && /^\s*-?\d+\s*$/.test(input)
      ? 'must be a number without quotes'
      : other({ input })
}

/** The error for what must be one of `names`. */
export function oneOf(names: readonly string[]) {
  const all = `must be one of ${names.join(', ')}`
  return ({ input }: { input?: unknown }) => (input === undefined ? `is required: it ${all}` : all)
}

export const name = text({ max: 100, trimmed: true, filled: true }).refine(
  (value) => /[^\s\p{C}\p{Default_Ignorable_Code_Point}]/u.test(value),
  stopping('must have a visible character'),
)

/** An address that a mail server accepts: no quotes, no comments, and a domain with a dot. */
const EMAIL =
  /^(?!\.)(?!.*\.[.@])[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z](?:[a-z\d-]{0,61}[a-z\d])$/i

export const email = text({ max: 254, trimmed: true, filled: true })
  .refine(...without(/[^\p{ASCII}]/u, 'must have ASCII characters only'))
  .refine((value) => EMAIL.test(value), stopping('must be a valid email address'))
  .meta({ format: 'email' })

export const phone = text({ max: 32, trimmed: true, filled: true })
  .refine(...without(/[^\d +-]/u, 'may contain only digits, hyphens, spaces and +'))
  .refine((value) => /\d/.test(value), stopping('must have at least one digit'))
  .meta({ pattern: String.raw`^[\d +-]*\d[\d +-]*$` })

const FICO_RANGE = /^(([3-7]\d\d|8[0-4]\d|850)-([3-7]\d\d|8[0-4]\d|850))?$/

// its pattern limits the length, and says more than a second error would
const ficoRange = text({ max: 255, trimmed: true })
  .refine((value) => {
    const [low = '', high = ''] = value.split('-')
    return FICO_RANGE.test(value) && low <= high
  }, 'must be <low>-<high> between 300 and 850, for example 550-579')
  .meta({ pattern: FICO_RANGE.source, maxLength: 7 })

/** The partner's own ids of the borrower and the loan officer. */
const partnersOwnId = text({ max: 255, trimmed: 'if blank' })

/** A lead's optional fields, as requests take them, and what they mean there and in responses. */
export const optionalRules: Record<OptionalField, { rule: z.ZodString; meaning: string }> = {
  partner_lead_id: {
    rule: partnersOwnId,
    meaning:
      'Your own identifier for the borrower, which we recommend: each webhook includes it, as it was when the event was recorded.',
  },
  fico_range: {
    rule: ficoRange,
    meaning:
      'The borrower’s FICO range when you referred them, `<low>-<high>` between 300 and 850: `500-549`, `550-579`, `580-619`, `620-659`.',
  },
  loan_officer_id: { rule: partnersOwnId, meaning: 'The loan officer who handles the borrower.' },
  notes: {
    rule: text({ max: 10_000, breaks: true, trimmed: 'if blank' }),
    meaning: 'Why the application was declined. Returned by export-lead only.',
  },
}

/** A number in a request. */
export const integer = (min: number, max: number) =>
  z
    .int({ error: numberOr('must be an integer') })
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)

export const flag = z.boolean('must be true or false, without quotes')

/** Any integer is a well-formed id. One beyond 32 bits becomes 0, the id of no lead, so that it is not found. */
export const ownLeadId = z
  .number({ error: numberOr('must be an integer') })
  .refine(Number.isInteger, 'must be an integer')
  .overwrite((value) => (Math.abs(value) <= LARGEST_ID ? value : 0))
  .meta({ type: 'integer', description: 'The lead: the `lead_id` that create-lead returned.' })

/** The ids that events have. */
export const EVENT_ID = /^evt_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Any text is a well-formed id of an event. What no event can have becomes empty, so that it is not found. */
export const eventId = z
  .string({ error: requiredOr('must be a string') })
  .overwrite((value) => (EVENT_ID.test(value) ? value : ''))

/** An id in a response. */
export const id = z.int().min(1).max(LARGEST_ID)

export const timestamp = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  .meta({
    id: 'Timestamp',
    description: '`YYYY-MM-DD HH:MM:SS` in UTC, without a zone: append `Z` before you parse it.',
    examples: ['2026-03-02 15:04:05'],
  })
