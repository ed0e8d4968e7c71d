/** HTTP dates as RFC 9110 has them, without their weekday: IMF-fixdate, RFC 850 and asctime. */
const HTTP_DATES = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
]

/**
 * The wait that a `Retry-After` header asks for, in milliseconds from `now`, at least 0. A date in the
 * past asks for none. `undefined` for no header and for anything that is neither seconds nor an HTTP
 * date: a partner's mistake must not change our schedule.
 *
 * Source: RFC 9110, section 10.2.3.
 */
export function retryAfterMs(header: string | null | undefined, now: Date): number | undefined {
  const value = header?.trim()
  if (!value) return undefined
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER)
  if (!HTTP_DATES.some((format) => format.test(value))) return undefined
  // The third form has no zone and means UTC; without it Date.parse would take the machine's zone.
  const at = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime())
}
