import { inUtc, parseTime } from './time.js'
import { retryDelaysMs } from './service.js'

/** @import { Delivery, Tick } from './lead-records.js' */

const MOST_MADE = 4

/**
 * A webhook's retry schedule with the present in it, in real time. Attempts of other kinds change nothing in it.
 *
 * @param {Delivery} delivery
 * @param {number} ahead by how much its lead's clock is, in ms
 */
export function retryTicks({ attempts, next_attempt_at: next }, ahead) {
  const made = attempts.filter(({ trigger }) => trigger === 'scheduled')
  const earlier = made.length - MOST_MADE
  /** @type {Tick[]} */
  const ticks = earlier > 0 ? [{ kind: 'earlier', count: earlier }] : []
  for (const attempt of made.slice(-MOST_MADE)) ticks.push({ kind: 'made', at: attempt.started_at, attempt })
  ticks.push({ kind: 'now' })
  if (next !== null) ticks.push({ kind: 'next', at: inUtc(new Date(parseTime(next).getTime() - ahead)) })
  for (const waitMs of retryDelaysMs.slice(made.length + 1)) ticks.push({ kind: 'later', waitMs })
  return ticks
}
