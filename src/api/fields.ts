import { z } from 'zod'
import { text } from './text.ts'

/** The fields of the wire and their rules: interface specification, section 2.1. */

/** An address that a mail server takes: no quotes, no comments, and a domain with a dot. */
const EMAIL =
  /^(?!\.)(?!.*\.[.@])[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z](?:[a-z\d-]{0,61}[a-z\d])$/i
const FICO_RANGE = /^(\d{3})-(\d{3})$/

const SCORE = String.raw`([3-7]\d\d|8[0-4]\d|850)`

export const name = text({ min: 1, max: 100, trim: true })

export const email = text({ max: 254 })
  .pipe(z.email({ pattern: EMAIL, error: 'must be a valid e-mail address' }))
  .meta({ format: 'email', maxLength: 254 })

export const phone = text({ max: 32 })
  .refine((value) => /^[\d +-]*$/.test(value), 'may have digits, hyphens, spaces and + only')
  .refine((value) => /\d/.test(value), 'must have at least one digit')
  .meta({ pattern: String.raw`^[\d +-]*\d[\d +-]*$`, maxLength: 32 })

const isFicoRange = (value: string) => {
  const [, low = 0, high = 0] = (FICO_RANGE.exec(value) ?? []).map(Number)
  return low >= 300 && low <= high && high <= 850
}

/** The empty string counts as absent, like `null`. */
export const ficoRange = text({ max: 7 })
  .refine(
    (value) => value === '' || isFicoRange(value),
    'must be <low>-<high> between 300 and 850, for example 550-579',
  )
  .meta({ pattern: `^(${SCORE}-${SCORE})?$`, maxLength: 7 })

/** The partner's own ids, of the borrower and of the loan officer; the empty string counts as absent, like `null`. */
export const partnerId = text({ max: 255 })

export const notes = text({ max: 10_000, breaks: true })

/** Any integer is a well-formed id; one beyond 32 bits is simply nobody's. */
export const leadId = z
  .number({ error: ({ input }) => (input === undefined ? 'is required' : 'must be an integer') })
  .refine(Number.isInteger, 'must be an integer')
  .meta({ type: 'integer' })

/** An id as we answer it. */
export const id = z.int().min(1).max(2_147_483_647)

export const timestamp = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  .meta({ description: 'UTC, `YYYY-MM-DD HH:MM:SS`.', examples: ['2026-03-02 15:04:05'] })
