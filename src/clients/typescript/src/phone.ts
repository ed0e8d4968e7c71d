import { InvalidPayloadError } from './errors.ts'

/** What the API takes. */
const TAKEN = /^[ +-]*\d[\d +-]*$/
const EXTENSION = /(x|ext|extension|#)[\s.:=]*\d{1,7}\s*$/i

/**
 * A phone number as people write it, in the digits, hyphens, spaces and `+` that the API takes: `(310) 555-1212 x4` is
 * `310 555-1212`.
 *
 * @throws {InvalidPayloadError} if it is none.
 */
export function phoneNumber(phone: string): string {
  if (TAKEN.test(phone)) return phone
  const plain = phone
    .replace(EXTENSION, '')
    .replace(/[./\u2010-\u2015]/g, '-')
    .replace(/[(),;\s]+/g, ' ')
    .trim()
  if (TAKEN.test(plain)) return plain
  const problem = 'must be a phone number: digits, hyphens, spaces and +'
  const fields = [{ field: 'phone', wireField: 'phone', problem }]
  const message = `Invalid request: phone ${problem}.`
  throw new InvalidPayloadError({ status: 400, code: 'INVALID_PAYLOAD', message, fields })
}
