import { call } from './api.js'

/** @import { Delivery, Event, LeadData, Step } from './types.js' */

/** Everything about a lead. @param {number} id @param {AbortSignal} signal @returns {Promise<LeadData>} */
export async function loadLead(id, signal) {
  const body = { lead_id: id }
  // first: if there is no such lead, the other calls would be refused, too
  const { data: lead, closing = null } = await call('/get-lead', body, { signal })
  const [{ data: events }, deliveries, { data: clock }] = await Promise.all([
    call('/get-events', body, { signal }),
    loadDeliveries(id, signal),
    call('/sandbox/get-clock', body, { signal }),
  ])
  const ahead = clock.offset_seconds * 1000
  // the page shows a retry at its webhook
  const next = closing === null && clock.next?.what !== 'retry' ? clock.next : null
  return { lead, closing, steps: pair(events, deliveries), next, ahead }
}

/** @param {number} id @param {AbortSignal} signal @param {string} [after] @returns {Promise<Delivery[]>} */
async function loadDeliveries(id, signal, after) {
  const { data, next } = await call('/get-deliveries', { lead_id: id, limit: 100, after }, { signal })
  return next === null ? data : [...data, ...(await loadDeliveries(id, signal, next))]
}

/**
 * An event has the first webhook of its name and date.
 *
 * @param {Event[]} events oldest first
 * @param {Delivery[]} deliveries
 * @returns {Step[]}
 */
function pair(events, deliveries) {
  const unpaired = deliveries.toSorted((one, other) => one.sequence - other.sequence)
  return events.map((event) => {
    const index = unpaired.findIndex(
      ({ event_name: name, created_at: at }) => name === event.event_name && at === event.created_at,
    )
    const [delivery] = index < 0 ? [] : unpaired.splice(index, 1)
    return { ...event, delivery }
  })
}
