import { hasSinks } from './service.js'
import { duration } from './time.js'
import { words } from './words.js'

/** @import { Attempt, Delivery } from './types.js' */

const LOOK_AGAIN_MS = 3000

/** A pending webhook that fails is shown as retrying. @param {Delivery} delivery */
export const shownState = (delivery) =>
  delivery.state === 'pending' && lastOf(delivery) !== undefined ? 'retrying' : delivery.state

/** The latest attempt that is over. @param {Delivery} delivery */
export const lastOf = ({ attempts }) => attempts.findLast(({ duration_ms: ms }) => ms !== null)

/** @param {Attempt} attempt */
export function outcomeOf({ duration_ms: ms, status, error_code: code }) {
  if (ms === null) return { state: 'running', text: 'Under way' }
  if (code === null) return { state: 'accepted', text: String(status ?? 'Accepted') }
  return { state: 'failed', text: status === null ? words(code) : String(status) }
}

/** What matters about a webhook at a glance. @param {Delivery} delivery */
export function summaryOf(delivery) {
  const { state, attempts, fault, waits_for: earlier } = delivery
  if (fault !== null) return fault
  if (state === 'held') return 'Endpoint paused'
  if (earlier !== null) return `Waits for webhook ${earlier.sequence}`
  const last = lastOf(delivery)
  if (last === undefined) return attempts.length === 0 ? 'Not sent yet' : 'Under way'
  const { text } = outcomeOf(last)
  return last.number > 1 ? `${text}, attempt\u00A0${last.number}` : `${text} in ${duration(last.duration_ms)}`
}

/** Whether webhooks go to a sink of ours. @param {string | null} url */
export const isSink = (url) => hasSinks && url !== null && url.includes('/sandbox/sinks/')

/**
 * Why an attempt failed, and what to do. A sink refuses as it was told to, unless the signature was not valid (400).
 *
 * @param {string | null} url
 * @param {{ status: number | null, error_code: string | null, hint: string | null }} failed
 */
export function reasonOf(url, { status, error_code: code, hint }) {
  if (code === null) return null
  if (!isSink(url) || status === 400) return hint ?? words(code)
  return `our sink ${status === null ? `failed (${words(code).toLowerCase()})` : `answered ${status}`}, as it was told`
}

/** Why a webhook is not delivered yet, or never was; `null` if nothing failed. @param {Delivery} delivery */
export function problemOf(delivery) {
  if (!['pending', 'held', 'given_up'].includes(delivery.state)) return null
  if (delivery.fault !== null) return `${delivery.fault}: it is sent once we have fixed that`
  const last = lastOf(delivery)
  return last === undefined ? null : reasonOf(last.url, last)
}

/** In how many milliseconds to look again: no event tells of the attempts of open webhooks. @param {Delivery[]} deliveries */
export const lookAgainMs = (deliveries) =>
  deliveries.some(({ state }) => ['pending', 'held'].includes(state)) ? LOOK_AGAIN_MS : undefined
