import { call } from './api.js'
import { isSink } from './sinks.js'

/** @import { Arrival, Attempt } from './lead-records.js' */

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
