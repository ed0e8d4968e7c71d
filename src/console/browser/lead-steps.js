import { inUtc, parseTime } from './time.js'
import { journey } from './words.js'
import { closesAfterDays, scorePeriodDays } from './service.js'

/** @import { Delivery, Due, Event, LeadData, Step, Upcoming } from './types.js' */

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * An event has the first webhook of its name and date.
 *
 * @param {Event[]} events oldest first
 * @param {Delivery[]} deliveries
 * @returns {Step[]}
 */
export function pair(events, deliveries) {
  const unpaired = deliveries.toSorted((one, other) => one.sequence - other.sequence)
  return events.map((event) => {
    const index = unpaired.findIndex(
      ({ event_name: name, created_at: at }) => name === event.event_name && at === event.created_at,
    )
    const [delivery] = index < 0 ? [] : unpaired.splice(index, 1)
    return { ...event, delivery }
  })
}

/** Webhooks that are not delivered, in their order; and all else, newest first. @param {Step[]} steps */
export function grouped(steps) {
  const isOpen = (/** @type {Step} */ { delivery }) =>
    delivery !== undefined && !['delivered', 'canceled'].includes(delivery.state)
  return { open: steps.filter(isOpen), past: steps.filter((step) => !isOpen(step)).toReversed() }
}

/**
 * What a lead waits for: the milestone that follows, and what its clock brings.
 *
 * @param {LeadData} data
 * @returns {Upcoming[]}
 */
export function upcoming({ lead, closing, next, steps }) {
  if (closing !== null) return []
  const ready = steps.find(({ event_name: name }) => name === 'mortgage_ready')
  if (ready) return [{ name: 'end', at: later(ready.created_at, closesAfterDays), isByClock: true }]
  const reached = journey.findIndex(({ name }) => name === lead.status)
  const following = journey.slice(reached + 1, reached + 2).map(({ name }) => name)
  const isScore = next?.what === 'score_update' && !following.includes(next.what)
  return [...(isScore ? ['score_update'] : []), ...following].map((name) => ({
    name,
    at: next?.what === name ? next.at : null,
    isByClock: next?.what === name,
  }))
}

/**
 * Where the service does not tell: n periods after `escrow_funded`, until the borrower is mortgage ready.
 *
 * @param {Event[]} events
 * @param {number} ahead how far the lead's clock is ahead
 * @returns {Due | null}
 */
export function nextScoreUpdate(events, ahead) {
  const anchor = events.find(({ event_name: name }) => name === 'escrow_funded')
  if (anchor === undefined || events.some(({ event_name: name }) => name === 'mortgage_ready')) return null
  const from = parseTime(anchor.created_at).getTime()
  const periods = Math.floor((Date.now() + ahead - from) / (scorePeriodDays * DAY_MS)) + 1
  return { what: 'score_update', at: later(anchor.created_at, periods * scorePeriodDays) }
}

/** @param {string} at @param {number} days */
const later = (at, days) => inUtc(new Date(parseTime(at).getTime() + days * DAY_MS))
