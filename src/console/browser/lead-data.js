import { call, offers } from './api.js'
import { nextScoreUpdate, pair } from './lead-steps.js'
import { isSink, toldSink } from './sinks.js'
import { parseTime } from './time.js'
import { words } from './words.js'

/** @import { Attempt, Delivery, Due, LeadData } from './lead-records.js' */

const MOST_PAGES = 10

/** Everything about a lead. @param {number} id @param {AbortSignal} signal @returns {Promise<LeadData>} */
export async function loadLead(id, signal) {
  const body = { lead_id: id }
  // whether there is one: else each of the others would say that there is none
  const lead = await call('/get-lead', body, { signal })
  const [events, deliveries, clock] = await Promise.all([
    call('/get-events', body, { signal }),
    loadDeliveries(id, signal),
    offers('/sandbox/get-clock') ? call('/sandbox/get-clock', body, { signal }) : undefined,
  ])
  const ahead = (clock?.data.offset_seconds ?? 0) * 1000
  const closing = lead.closing ?? null
  const closedAt = closing?.at ?? null
  const due = isRetry(clock?.data.next) ? nextScoreUpdate(events.data, ahead) : clock.data.next
  const endpoint = await failingEndpoint(deliveries, signal)
  return {
    lead: lead.data,
    closing,
    closedAt,
    steps: pair(events.data, deliveries),
    pausedEndpoint: endpoint?.health === 'paused' ? endpoint : null,
    isToSink: isSink(endpoint?.url ?? null),
    next: closedAt === null ? due : null,
    ahead,
  }
}

/** Where webhooks of the lead go that are held or fail. @param {Delivery[]} deliveries @param {AbortSignal} signal @returns {Promise<any>} */
async function failingEndpoint(deliveries, signal) {
  if (deliveries.every((one) => one.state !== 'held' && problemOf(one) === undefined)) return null
  return (await call('/get-endpoint', {}, { signal })).data
}

/** Of a retry its webhook tells; a service without clocks tells of nothing. @param {Due | null | undefined} next */
const isRetry = (next) => next === undefined || next?.what === 'retry'

/** @param {number} id @param {AbortSignal} signal */
async function loadDeliveries(id, signal) {
  /** @type {Delivery[]} */
  const found = []
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

/** Why a webhook is not delivered yet, or never was; `undefined` if nothing failed. @param {Delivery} delivery @param {boolean} [isToSink] */
export function problemOf(delivery, isToSink = false) {
  if (!['pending', 'held', 'given_up'].includes(delivery.state)) return undefined
  const last = lastOf(delivery)
  if (!last?.error_code) return undefined
  return (isToSink && toldSink(last)) || (last.hint ?? words(last.error_code))
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
