import { type Command, InvalidArgumentError, Option } from 'commander'
import { DAY_MS, HOUR_MS, LARGEST_ID, MINUTE_MS } from '../values.ts'

const UNIT_MS = { s: 1000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS }

/** A parser that takes what matches `pattern`; `rule` says what that is. */
export function matching(pattern: RegExp, rule: string) {
  return (text: string): string => {
    if (pattern.test(text)) return text
    throw new InvalidArgumentError(rule)
  }
}

/** A parser of one of `names`. */
export function oneOf<Name extends string>(names: readonly Name[]) {
  return (text: string): Name => {
    const name = names.find((each) => each === text)
    if (name !== undefined) return name
    throw new InvalidArgumentError(`Use one of ${names.join(', ')}.`)
  }
}

/** A parser of integers from `min` to `max`. */
function whole(min: number, max: number, rule = `Use a whole number from ${min} to ${max}.`) {
  return (text: string): number => {
    const value = Number(matching(/^\d{1,10}$/, rule)(text))
    if (value >= min && value <= max) return value
    throw new InvalidArgumentError(rule)
  }
}

export const rows = whole(1, 9999)
export const partnerArgument = whole(1, LARGEST_ID, 'Use the partner’s number: see "partner list".')
const leadId = whole(1, LARGEST_ID, 'Use the lead_id that create-lead returned.')

/** A lead's id, or the id of its workflow. */
export const leadArgument = (text: string): number => leadId(text.replace(/^lead-/, ''))

/** `text` such as `90m` in milliseconds. */
function durationMs(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,7})([smhd])$/.exec(text) ?? []
  return amount === undefined ? undefined : Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS]
}

/** `--overlap`: how long old and new both work, in milliseconds. */
export function overlapOption(meaning: string): Option {
  const overlapMs = (text: string): number => {
    const overlap = text === '0' ? 0 : durationMs(text)
    if (overlap !== undefined && overlap <= 7 * UNIT_MS.d) return overlap
    throw new InvalidArgumentError('Use a duration from 0 to 7d, such as 30m, 24h or 2d.')
  }
  return new Option('--overlap <time>', `${meaning}: 0 to 7d`).argParser(overlapMs).default(UNIT_MS.d, '24h')
}

const MOMENT = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?: ?UTC|Z)?)?$/

/** A time in UTC, as answers show it; or how long ago (`90m`, `24h`, `7d`). */
export function moment(text: string): Date {
  const ago = durationMs(text)
  if (ago !== undefined) return new Date(Date.now() - ago)
  const [, date = '', time = '00:00'] = MOMENT.exec(text) ?? []
  const parsed = new Date(`${date}T${time}Z`)
  if (!Number.isNaN(parsed.getTime())) return parsed
  throw new InvalidArgumentError(
    'Use a time in UTC, such as 2026-03-02 or 2026-03-02T15:04, or how long ago, such as 24h.',
  )
}

/** The command of a noun, such as `lead`, to which another room adds verbs. */
export function nounOf(program: Command, name: string): Command {
  const noun = program.commands.find((command) => command.name() === name)
  if (noun === undefined) throw new Error(`there is no command ${name} yet`)
  return noun
}
