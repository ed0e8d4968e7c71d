import { InvalidArgumentError } from 'commander'

const LARGEST_ID = 2 ** 31 - 1
const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 } as const
const WEEK_SECONDS = 7 * UNITS.d

/** A parser of the id of `what`, as `npm run staff` prints ids. */
function idOf(what: string, where: string) {
  return (text: string): number => {
    const id = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0
    if (id === 0 || id > LARGEST_ID)
      throw new InvalidArgumentError(`A ${what} is named by its number: ${where}.`)
    return id
  }
}

export const partnerId = idOf('partner', 'see "partner list"')

/** A lead's id, or the id of its workflow. */
export function leadId(text: string): number {
  return idOf('lead', 'the lead_id that create-lead answered')(text.replace(/^lead-/, ''))
}

/** An overlap of old and new, such as `24h`, in milliseconds: 0 to 7 days. */
export function overlapMs(text: string): number {
  const [, amount = '', unit = 's'] = /^(\d{1,7})([smhd])$/.exec(text) ?? /^(0)$/.exec(text) ?? []
  const seconds = amount === '' ? Infinity : Number(amount) * UNITS[unit as keyof typeof UNITS]
  if (seconds > WEEK_SECONDS)
    throw new InvalidArgumentError('An overlap is a time from 0 to 7d, such as 30m, 24h or 2d.')
  return seconds * 1000
}

export function rows(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (count === 0) throw new InvalidArgumentError('A number of rows is from 1 to 9999.')
  return count
}

/** A time: a date and time in UTC as `2026-03-02` or `2026-03-02T15:04:05`, or so long ago as `90m`, `24h`, `7d`. */
export function moment(text: string): Date {
  const [, amount = '', unit = 's'] = /^(\d{1,7})([smhd])$/.exec(text) ?? []
  if (amount !== '') return new Date(Date.now() - Number(amount) * UNITS[unit as keyof typeof UNITS] * 1000)
  const [, date = '', time = '00:00'] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)Z?)?$/.exec(text) ?? []
  const parsed = new Date(`${date}T${time}Z`)
  if (Number.isNaN(parsed.getTime())) {
    throw new InvalidArgumentError(
      'A time is in UTC, such as 2026-03-02 or 2026-03-02T15:04, or ago, such as 24h.',
    )
  }
  return parsed
}
