const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** How long ago something was, in its two largest units: `3 h 20 min`. */
export function ageText(since: Date, now = new Date()): string {
  return durationText(now.getTime() - since.getTime())
}

/** Milliseconds for people: `120 ms`, `4.2 s`, `3 h 20 min`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`
  const first = UNITS.findIndex(([, unit]) => ms >= unit)
  let left = ms
  const parts = UNITS.slice(first, first + 2).map(([name, unit]) => {
    const count = Math.floor(left / unit)
    left -= count * unit
    return count === 0 ? '' : `${count} ${name}`
  })
  return parts.filter(Boolean).join(' ')
}
