import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../values/durations.ts'

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
