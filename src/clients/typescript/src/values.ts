/** A time of the API: `2026-11-21 20:57:56`, which is UTC, or ISO 8601. */
export function timeOf(text: string): Date {
  return new Date(text.includes('T') ? text : `${text.replace(' ', 'T')}Z`)
}

const EXTENSION = /(x|ext|extension|#)[\s.:=]*\d{1,7}\s*$/i

/**
 * A phone number as people write it, in the digits, hyphens, spaces and `+` that create-lead takes: `(310) 555-1212 x4` is
 * `310 555-1212`. What is no number is refused by create-lead.
 */
export function phoneNumber(text: string): string {
  const hyphenated = text.replace(EXTENSION, '').replace(/[./\u2010-\u2015]/g, '-')
  return hyphenated.replace(/[(),;\s]+/g, ' ').trim()
}
