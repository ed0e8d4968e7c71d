import { DAY_MS, HOUR_MS, MINUTE_MS } from '../values.ts'

const UNITS = [
  [DAY_MS, 'day'],
  [HOUR_MS, 'hour'],
  [MINUTE_MS, 'minute'],
] as const

/** How far a lead's clock runs ahead, in the largest unit of which it is one at least. */
export function aheadText(ms: number): string {
  const [unit, name] = UNITS.find(([least]) => ms >= least) ?? [1000, 'second']
  const count = Math.round((ms / unit) * 10) / 10
  return `${count} ${name}${count === 1 ? '' : 's'}`
}

const SHOWABLE = /^[A-Za-z0-9_.-]{1,64}$/
const MOST_SHOWN = 5

/** Whether a name that a stranger chose may be shown and kept: it is a name, and hardly anything that it should hide. */
export function isShowable(name: string): boolean {
  return SHOWABLE.test(name)
}

/** Names that a stranger chose, as a list in words: those that may be shown, and how many others there are. */
export function listOf(names: readonly string[]): string {
  const shown = names.filter(isShowable).slice(0, MOST_SHOWN)
  const others = names.length - shown.length
  if (others === 0) return shown.join(', ')
  return shown.length === 0 ? `${others} with unusual names` : `${shown.join(', ')} and ${others} more`
}
