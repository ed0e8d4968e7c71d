import { inUtc, parseTime } from './time.js'
import { retryDelaysMs } from './service.js'

/** @import { Delivery, Tick } from './lead-records.js' */

const MOST_MADE = 4

/**
 * A webhook's retry schedule with the present in it, in real time. Attempts of other kinds change nothing in it.
 *
 * @param {Delivery} delivery
 * @param {number} ahead by how much its lead's clock is, in ms
 * @returns {Tick[]}
 */
export function retryTicks({ attempts, next_attempt_at: next }, ahead) {
  const made = attempts.filter(({ trigger }) => trigger === 'scheduled')
  const due = next === null ? [] : [inUtc(new Date(parseTime(next).getTime() - ahead))]
  const earlier = made.length - MOST_MADE
  return [
    ...(earlier > 0 ? [{ kind: /** @type {const} */ ('earlier'), count: earlier }] : []),
    ...made
      .slice(-MOST_MADE)
      .map((attempt) => ({ kind: /** @type {const} */ ('made'), at: attempt.started_at, attempt })),
    { kind: 'now' },
    ...due.map((at) => ({ kind: /** @type {const} */ ('next'), at })),
    ...retryDelaysMs
      .slice(made.length + 1)
      .map((waitMs) => ({ kind: /** @type {const} */ ('later'), waitMs })),
  ]
}
