import { DAY_MS } from '../../../core/values/durations.ts'

/** How long requests are kept. */
export const KEPT_DAYS = 7
/** Of a partner, the newest so many are kept. */
export const MOST_KEPT = 10_000

/** When a request came, from the milliseconds at the beginning of its id. */
export const cameAt = (id: string) => new Date(Number.parseInt(id.slice(0, 13).replace('-', ''), 16))

/** The smallest id of a request that is young enough to be shown. */
export function oldestId(now: number): string {
  const hex = (now - KEPT_DAYS * DAY_MS).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
