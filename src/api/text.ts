import { z } from 'zod'

// C0, DEL and C1; the second leaves out tab and line breaks
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
// eslint-disable-next-line no-control-regex
const CONTROL_BUT_BREAKS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/

interface TextRule {
  max: number
  min?: number
  /** Whether tabs and line breaks may be in it. */
  breaks?: boolean
  trim?: boolean
}

/** Text that PostgreSQL and JSON both hold as it is: no control characters, no halves of a character. */
export function text({ max, min = 0, breaks = false, trim = false }: TextRule) {
  const forbidden = breaks ? CONTROL_BUT_BREAKS : CONTROL
  const string = z.string({
    error: ({ input }) => (input === undefined ? 'is required' : 'must be a string'),
  })
  const trimmed = trim ? string.trim() : string
  return (
    (min > 0 ? trimmed.min(min, 'must not be empty') : trimmed)
      .refine((value) => characters(value) <= max, `must have at most ${max} characters`)
      .refine((value) => !forbidden.test(value), 'must not have control characters')
      .refine((value) => value.isWellFormed(), 'must be valid Unicode')
      // a refinement is a function, which a JSON schema cannot show
      .meta({ maxLength: max, pattern: patternOf(min, breaks) })
  )
}

function patternOf(min: number, breaks: boolean): string {
  const controls = breaks
    ? String.raw`\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f`
    : String.raw`\u0000-\u001f\u007f-\u009f`
  const visible = min > 0 ? String.raw`[^\s${controls}][^${controls}]*` : ''
  return `^[^${controls}]*${visible}$`
}

/** What a reader would count: a surrogate pair is one character. */
function characters(value: string): number {
  let count = value.length
  for (const character of value) count -= character.length - 1
  return count
}
