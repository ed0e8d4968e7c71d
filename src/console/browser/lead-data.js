import { call } from './api.js'
import { nextScoreUpdate, pair } from './lead-steps.js'
import { isSink, toldSink } from './sinks.js'
import { parseTime } from './time.js'
import { words } from './words.js'

/** @import { Attempt, Delivery, LeadData } from './types.js' */

const MOST_PAGES = 10

/** Everything about a lead. @param {number} id @param {AbortSignal} signal @returns {Promise<LeadData>} */
export async function loadLead(id, signal) {
  const body = { lead_id: id }
  // whether there is one: else each of the others would say that there is none
  const { data: lead, closing = null } = await call('/get-lead', body, { signal })
  const [events, deliveries, clock] = await Promise.all([
    call('/get-events', body, { signal }),
    loadDeliveries(id, signal),
    call('/sandbox/get-clock', body, { signal }),
  ])
  const { offset_seconds: offset, next } = clock.data
  const ahead = offset * 1000
  const isHeld = deliveries.some(({ state }) => state === 'held')
  const endpoint = isHeld ? (await call('/get-endpoint', {}, { signal })).data : undefined
  // of a retry its webhook tells
  const due = next?.what === 'retry' ? nextScoreUpdate(events.data, ahead) : next
  return {
    lead,
    closing,
    steps: pair(events.data, deliveries),
    pausedEndpoint: endpoint?.health === 'paused' ? endpoint : null,
    next: closing === null ? due : null,
    ahead,
  }
}

/** @param {number} id @param {AbortSignal} signal */
async function loadDeliveries(id, signal) {
  /** @type {Delivery[]} */
  const found = []
  /** @type {string | undefined} */
  let after
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const body = { lead_id: id, limit: 100, ...(after && { after }) }
    const { data, next } = await call('/get-deliveries', body, { signal })
    found.push(...data)
    if (next === null) break
    after = next
  }
  return found
}

/** A pending webhook that fails is shown as retrying. @param {Delivery} delivery */
export const shownState = (delivery) =>
  delivery.state === 'pending' && lastOf(delivery) !== undefined ? 'retrying' : delivery.state

/** The latest attempt that is over. @param {Delivery} delivery */
export const lastOf = ({ attempts }) => attempts.findLast(({ duration_ms: ms }) => ms !== null)

/** Why a webhook is not delivered yet, or never was; `undefined` if nothing failed. @param {Delivery} delivery */
export function problemOf(delivery) {
  if (!['pending', 'held', 'given_up'].includes(delivery.state)) return undefined
  if (delivery.fault !== null) return `${delivery.fault}: it is sent once we have mended that`
  const last = lastOf(delivery)
  if (!last?.error_code) return undefined
  return (isSink(last.url) && toldSink(last)) || (last.hint ?? words(last.error_code))
}

const SOON_MS = 1000
const LATEST_MS = 60_000
/** Of what may change at any time: an endpoint is resumed. */
export const UNTOLD_MS = 5000

/**
 * In how many milliseconds a webhook may have changed without an event that says so.
 *
 * @param {Delivery[]} deliveries
 * @param {number} [ahead] how far their clock is ahead
 * @param {number} [latestMs] where `ahead` is not known
 */
export function lookAgainMs(deliveries, ahead = 0, latestMs = LATEST_MS) {
  const due = deliveries.flatMap(({ state, next_attempt_at: at }) => {
    if (state === 'held') return UNTOLD_MS
    if (state !== 'pending') return []
    return at === null ? 0 : parseTime(at).getTime() - Date.now() - ahead
  })
  return due.length === 0 ? undefined : Math.min(latestMs, Math.max(SOON_MS, Math.min(...due)))
}

/** @param {Attempt} attempt */
export function outcomeOf({ duration_ms: ms, status, error_code: code }) {
  if (ms === null) return { state: 'running', text: 'Under way' }
  if (code === null) return { state: 'accepted', text: String(status ?? 'Accepted') }
  return { state: 'failed', text: status === null ? words(code) : String(status) }
}
