import { html } from '../preact.js'
import { call } from '../api.js'
import { Select } from '../inputs.js'
import { lookAgainMs, UNTOLD_MS } from '../lead-data.js'
import { useLive, useLoad } from '../live.js'
import { Pending } from '../parts.js'
import { link, replace } from '../route.js'
import { styled } from '../styled.js'
import { counted, words } from '../words.js'
import { Empty } from './empty.js'
import { Rows } from './live-rows.js'

await styled('forms.css', 'lists.css')

/** @typedef {import('../types.js').Delivery} Delivery */
/** @typedef {{ event_id: string, event_name: string, lead_id: number, partner_lead_id?: string | null, delivery?: Delivery, isSent: boolean, isNew: boolean, isErased: boolean }} Row `isSent`: it has a webhook, perhaps one that is not loaded yet; `isErased`: its lead is */

/** @param {{ query: URLSearchParams }} props */
export function LiveView({ query }) {
  const feed = useLive()
  const state = query.get('states') ?? ''
  const after = query.get('after') ?? ''
  const body = { limit: 50, ...(state !== '' && { states: [state] }), ...(after !== '' && { after }) }
  const loaded = useLoad(
    (signal) => call('/get-deliveries', body, { signal }),
    [body],
    // each lead has a clock of its own
    ({ data: deliveries }) => lookAgainMs(deliveries, 0, UNTOLD_MS),
  )
  const { data } = loaded
  const isWhole = state === '' && after === ''
  const rows = data === undefined ? [] : merge(data.data, feed.events, isWhole)
  return html`
    <div class="head">
      <h1 tabindex="-1">Live</h1>
      <p class="dim" role="status">${arrivals(feed.arrived)}</p>
    </div>
    <${Filter} state=${state} />
    <${Pending} of=${loaded} />
    ${data !== undefined && rows.length === 0 && html`<${Nothing} isWhole=${isWhole} />`}
    ${rows.length > 0 && html`<${Rows} rows=${rows} />`}
    <nav class="pages" aria-label="Pages">
      ${after !== '' && html`<a class="button" href=${link('live', { states: state })}>Newest</a>`}
      ${data?.next && html`<a class="button" href=${link('live', { states: state, after: data.next })}>Older</a>`}
    </nav>
  `
}

/** @param {number} count */
const arrivals = (count) =>
  count === 0
    ? 'New events appear here automatically.'
    : `${counted(count, 'event')} since you opened the console.`

/**
 * Webhooks, and the events that have none or whose webhook is not loaded yet. Ids of events sort by time.
 *
 * @param {Delivery[]} deliveries
 * @param {import('../types.js').FeedEvent[]} events
 * @param {boolean} isWhole without a filter
 * @returns {Row[]}
 */
function merge(deliveries, events, isWhole) {
  const erased = new Set(deliveries.filter((one) => one.lead_erased).map(({ lead_id: id }) => id))
  const fresh = new Set(events.map(({ event_id: id }) => id))
  const sent = new Set(deliveries.map(({ event_id: id }) => id))
  const oldest = deliveries.at(-1)?.event_id ?? ''
  const others = isWhole ? events.filter(({ event_id: id }) => !sent.has(id) && id > oldest) : []
  const rows = [
    ...deliveries.map((delivery) => ({
      ...delivery,
      partner_lead_id: ownIdIn(delivery),
      delivery,
      isSent: true,
      isNew: fresh.has(delivery.event_id),
      isErased: delivery.lead_erased,
    })),
    ...others.map((event) => ({
      ...event,
      isSent: event.sequence !== null,
      isNew: true,
      isErased: erased.has(event.lead_id),
    })),
  ]
  return rows.toSorted((a, b) => (a.event_id < b.event_id ? 1 : -1))
}

/** The partner's id of the lead is in the body. @param {Delivery} delivery */
function ownIdIn({ body }) {
  try {
    return JSON.parse(body).data.partner_lead_id
  } catch {
    return null
  }
}

const states = ['pending', 'held', 'delivered', 'given_up', 'canceled']

/** @param {{ state: string }} props */
const Filter = ({ state }) => html`
  <form
    class="filters"
    role="search"
    aria-label="Filter webhooks"
    onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}
  >
    <${Select}
      label="Webhooks"
      value=${state}
      options=${[['', 'All'], ...states.map((name) => [name, words(name)])]}
      onValue=${(/** @type {string} */ chosen) => replace(link('live', { states: chosen }))}
    />
  </form>
`

/** @param {{ isWhole: boolean }} props */
const Nothing = ({ isWhole }) =>
  isWhole
    ? html`<${Empty}
        title="Nothing has happened yet"
        action=${html`<a class="button primary" href=${link('leads/new')}>Create a lead</a>`}
      >
        Every event and its webhook appears here within a second.
      <//>`
    : html`<${Empty}
        title="No webhook is in this state"
        action=${html`<a class="button" href=${link('live')}>Show all</a>`}
      />`
