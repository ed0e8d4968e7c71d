import { call, offers } from './api.js'
import { isTime, parseTime } from './time.js'
import { words } from './words.js'
import { milestones, scorePeriodDays } from './service.js'

/** @typedef {import('./lead-records.js').LeadEvent} LeadEvent */
/** @typedef {import('./lead-records.js').Attempt} Attempt */
/** @typedef {import('./lead-records.js').Delivery} Delivery */
/** @typedef {import('./lead-records.js').Arrival} Arrival */
/** @typedef {import('./lead-records.js').Due} Due */
/** @typedef {import('./lead-records.js').Step} Step */
/** @typedef {import('./lead-records.js').LeadData} LeadData */

const MOST_PAGES = 10
const DAY_MS = 24 * 60 * 60 * 1000
const webhooks = new Set(milestones.filter(({ webhook }) => webhook).map(({ name }) => name))

/**
 * Everything about a lead, from calls that know nothing of each other.
 *
 * @param {number} id
 * @param {AbortSignal} signal
 * @returns {Promise<LeadData>}
 */
export async function loadLead(id, signal) {
  const body = { lead_id: id }
  const [lead, events, deliveries, clock] = await Promise.all([
    call('/get-lead', body, { signal }),
    call('/get-events', body, { signal }),
    loadDeliveries(id, signal),
    offers('/sandbox/get-clock') ? call('/sandbox/get-clock', body, { signal }) : undefined,
  ])
  const ahead = (clock?.data.offset_seconds ?? 0) * 1000
  const closedAt = closingOf(lead.data)
  const due = isRetry(clock?.data.next) ? nextScoreUpdate(events.data, ahead) : clock.data.next
  return {
    lead: lead.data,
    closedAt,
    steps: pair(events.data, deliveries),
    pausedEndpoint: await pausedEndpointOf(deliveries, signal),
    next: closedAt === null ? due : null,
    now: clock?.data.now ?? null,
    ahead,
  }
}

/** A partner may have stored a field of this name: then it is any text. @param {Record<string, any>} lead */
const closingOf = ({ closed_at: at }) => (isTime(at) ? at : null)

/**
 * What holds webhooks of the lead, with the reason in words that continue after "because"; `null` if none is held.
 *
 * @param {Delivery[]} deliveries
 * @param {AbortSignal} signal
 * @returns {Promise<LeadData['pausedEndpoint']>}
 */
async function pausedEndpointOf(deliveries, signal) {
  if (deliveries.every(({ state }) => state !== 'held')) return null
  const { data } = await call('/get-endpoint', {}, { signal })
  return data.health === 'paused' ? data : null
}

/** Of a retry its webhook tells; a service without clocks tells of nothing. @param {Due | null | undefined} next */
const isRetry = (next) => next === undefined || next?.what === 'retry'

/**
 * @param {number} id
 * @param {AbortSignal} signal
 * @returns {Promise<Delivery[]>}
 */
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

/** Whether webhooks go to a sink of ours. @param {string | null} url */
export const isSink = (url) => offers('/sandbox/get-sink') && url !== null && url.includes('/sandbox/sinks/')

/**
 * The requests of a webhook that our sink received, oldest first; none if webhooks go elsewhere.
 *
 * @param {string} eventId
 * @param {AbortSignal} signal
 * @returns {Promise<Arrival[]>}
 */
export async function loadArrivals(eventId, signal) {
  const endpoint = await call('/get-endpoint', {}, { signal })
  if (!isSink(endpoint.data.url)) return []
  const { data } = await call('/sandbox/get-sink', {}, { signal })
  return data.webhooks.filter((/** @type {Arrival} */ { webhook_id: id }) => id === eventId).toReversed()
}

/**
 * A webhook's attempts with the bodies that its endpoint answered.
 *
 * @param {string} eventId
 * @param {AbortSignal} signal
 * @returns {Promise<Attempt[]>}
 */
export async function loadAnswers(eventId, signal) {
  const { data } = await call('/get-deliveries', { event_id: eventId }, { signal })
  return data[0].attempts
}

/**
 * An event has the first webhook of its name and date: two of the same second are in their order.
 *
 * @param {LeadEvent[]} events oldest first
 * @param {Delivery[]} deliveries
 * @returns {Step[]}
 */
function pair(events, deliveries) {
  const unpaired = deliveries.toSorted((one, other) => one.sequence - other.sequence)
  let waits = false
  return events.map((event) => {
    if (!webhooks.has(event.event_name)) return { ...event, delivery: undefined, waits: false }
    const index = unpaired.findIndex(
      ({ event_name: name, created_at: at }) => name === event.event_name && at === event.created_at,
    )
    const [delivery] = index < 0 ? [] : unpaired.splice(index, 1)
    const step = { ...event, delivery, waits }
    waits ||= step.delivery?.state === 'pending'
    return step
  })
}

/**
 * Where the service does not tell: n periods after `escrow_funded`, until the borrower is mortgage ready.
 *
 * @param {LeadEvent[]} events
 * @param {number} ahead how far the lead's clock is ahead
 * @returns {Due | null}
 */
function nextScoreUpdate(events, ahead) {
  const anchor = events.find(({ event_name: name }) => name === 'escrow_funded')
  if (anchor === undefined || events.some(({ event_name: name }) => name === 'mortgage_ready')) return null
  const from = parseTime(anchor.created_at).getTime()
  const periods = Math.floor((Date.now() + ahead - from) / (scorePeriodDays * DAY_MS)) + 1
  const at = new Date(from + periods * scorePeriodDays * DAY_MS)
  return { what: 'score_update', at: at.toISOString().slice(0, 19).replace('T', ' ') }
}

/**
 * A pending webhook that fails is shown as retrying.
 *
 * @param {Delivery} delivery
 */
export function shownState({ state, attempts }) {
  const last = attempts.findLast(({ duration_ms: ms }) => ms !== null)
  return state === 'pending' && last !== undefined ? 'retrying' : state
}

/** Why a webhook is not delivered yet, or never was; `undefined` if nothing failed. @param {Delivery} delivery */
export function problemOf({ state, attempts }) {
  if (!['pending', 'held', 'given_up'].includes(state)) return undefined
  const last = attempts.findLast(({ duration_ms: ms }) => ms !== null)
  return last?.error_code ? (last.hint ?? words(last.error_code)) : undefined
}

const SOON_MS = 1000
const LATEST_MS = 60_000

/**
 * In how many milliseconds a webhook may have changed without an event that says so.
 *
 * @param {Delivery[]} deliveries
 * @param {number} [ahead] how far their clock is ahead
 */
export function lookAgainMs(deliveries, ahead = 0) {
  const open = deliveries.filter(
    ({ state, resend_requested_at: resend }) => state === 'pending' || resend !== null,
  )
  if (open.length === 0) return undefined
  const due = open.map(({ next_attempt_at: at }) =>
    at === null ? 0 : parseTime(at).getTime() - Date.now() - ahead,
  )
  return Math.min(LATEST_MS, Math.max(SOON_MS, Math.min(...due)))
}

/** @param {Attempt} attempt */
export function outcomeOf({ duration_ms: ms, status, error_code: code }) {
  if (ms === null) return { state: 'running', text: 'Under way' }
  if (code === null) return { state: 'accepted', text: String(status ?? 'Accepted') }
  return { state: 'failed', text: status === null ? words(code) : String(status) }
}
