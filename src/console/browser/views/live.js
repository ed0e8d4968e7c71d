import { html } from '../preact.js'
import { call } from '../api.js'
import { lastOf, lookAgainMs, shownState, summaryOf } from '../deliveries.js'
import { Field } from '../forms.js'
import { touchSoon, useLive, useLoad } from '../live.js'
import { Badge, Empty, Pending, useAction } from '../parts.js'
import { link, replace } from '../route.js'
import { inUtc, Utc } from '../time.js'
import { counted, stateOf, words } from '../words.js'

/** @import { Delivery, FeedEvent } from '../types.js' */
/** @typedef {Delivery | FeedEvent} Row */

const states = ['pending', 'held', 'delivered', 'given_up', 'canceled']

/** @param {{ query: URLSearchParams }} props */
export function LiveView({ query }) {
  const feed = useLive()
  const state = query.get('states') ?? ''
  const after = query.get('after') ?? ''
  const body = { limit: 50, ...(state !== '' && { states: [state] }), ...(after !== '' && { after }) }
  const loaded = useLoad(
    (signal) => call('/get-deliveries', body, { signal }),
    [body],
    ({ data: deliveries }) => lookAgainMs(deliveries),
  )
  const { data } = loaded
  const isWhole = state === '' && after === ''
  const rows = data === undefined ? [] : merge(data.data, isWhole ? feed.events : [])
  return html`
    <div class="head">
      <h1 tabindex="-1">Live</h1>
      <p class="dim" role="status">
        ${feed.arrived === 0 ? 'New events appear here automatically.' : `${counted(feed.arrived, 'event')} since you opened the console.`}
      </p>
    </div>
    <div class="filters" role="search" aria-label="Filter webhooks">
      <${Field}
        name="states"
        label="Webhooks"
        value=${state}
        options=${[['', 'All'], ...states.map((name) => [name, words(name)])]}
        onValue=${(/** @type {string} */ chosen) => replace(link('live', { states: chosen }))}
      />
    </div>
    <${Pending} of=${loaded} />
    ${data !== undefined && rows.length === 0 && html`<${Nothing} isWhole=${isWhole} />`}
    ${rows.length > 0 && html`<${Table} rows=${rows} />`}
    <nav class="pages" aria-label="Pages">
      ${after !== '' && html`<a class="button" href=${link('live', { states: state })}>Newest</a>`}
      ${data?.next && html`<a class="button" href=${link('live', { states: state, after: data.next })}>Older</a>`}
    </nav>
  `
}

/**
 * Webhooks, and the events that have none or whose webhook is not loaded yet. Ids of events sort by time.
 *
 * @param {Delivery[]} deliveries
 * @param {FeedEvent[]} events
 */
function merge(deliveries, events) {
  const loaded = new Set(deliveries.map(({ event_id: id }) => id))
  const oldest = deliveries.at(-1)?.event_id ?? ''
  const others = events.filter(({ event_id: id }) => !loaded.has(id) && id > oldest)
  return [...deliveries, ...others].toSorted((a, b) => (a.event_id < b.event_id ? 1 : -1))
}

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

/** @param {{ rows: Row[] }} props */
const Table = ({ rows }) => html`
  <div class="card table" role="region" aria-label="Webhooks">
    <table>
      <thead>
        <tr>
          <th scope="col" class="wide-only">Recorded (UTC)</th>
          <th scope="col">Event</th>
          <th scope="col" class="number wide-only">Lead</th>
          <th scope="col" class="wide-only">Your lead id</th>
          <th scope="col">Webhook</th>
          <th scope="col" class="wide-only">Answer</th>
          <th scope="col" class="wide-only"><span class="hidden">Resend</span></th>
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => html`<${EventRow} key=${row.event_id} row=${row} />`)}
      </tbody>
    </table>
  </div>
`

/**
 * When an event was recorded, in real time: `evt_` and a UUIDv7, which begins with it. `created_at` follows the lead's
 * clock, and times of several clocks in one column would tell nothing.
 *
 * @param {string} id
 */
const recordedAt = (id) => inUtc(Number.parseInt(id.replace('evt_', '').replace('-', '').slice(0, 12), 16))

/** @param {{ row: Row }} props */
function EventRow({ row }) {
  const { event_id: id, event_name: name, lead_id: lead, sequence } = row
  const delivery = 'state' in row ? row : undefined
  const own = 'state' in row ? JSON.parse(row.body).data.partner_lead_id : row.partner_lead_id
  const resend = delivery && (delivery.lead_erased ? 'Lead erased' : html`<${Resend} delivery=${delivery} />`)
  const summary = delivery && summaryOf(delivery)
  return html`
    <tr>
      <td class="wide-only"><${Utc} at=${recordedAt(id)} /></td>
      <td>
        ${
          delivery?.lead_erased
            ? html`<span class="dim">${words(name)}</span>`
            : html`<a class="row" href=${link(`leads/${lead}`, { event: delivery && id })}>${words(name)}</a>`
        }
        <span class="narrow-only dim"
          >Lead ${lead}${own && html` · <span class="unbroken">${own}</span>`}</span
        >
        <span class="narrow-only dim"><${Utc} at=${recordedAt(id)} zone /></span>
      </td>
      <td class="number wide-only">${lead}</td>
      <td class="wide-only id">${own ?? html`<span class="dim">–</span>`}</td>
      <td>
        ${delivery ? html`<${State} delivery=${delivery} />` : sequence !== null ? html`<${Badge} state="pending" />` : html`<span class="dim">Not sent</span>`}
        <span class="narrow-only dim">${summary}</span>
        <span class="narrow-only">${resend}</span>
      </td>
      <td class="wide-only dim">${summary}</td>
      <td class="end dim wide-only">${resend}</td>
    </tr>
  `
}

/** @param {{ delivery: Delivery }} props */
function State({ delivery }) {
  const { state, lead_erased: isErased } = delivery
  if (isErased) return html`<${Badge} state="canceled" text=${stateOf(state).text} />`
  return state === 'delivered' && lastOf(delivery)?.error_code
    ? html`<${Badge} state="failed" text="Resend failed" />`
    : html`<${Badge} state=${shownState(delivery)} />`
}

/** @param {{ delivery: Delivery }} props */
function Resend({ delivery: { event_id: id, event_name: name, lead_id: lead, state } }) {
  const { busy, error, done, run } = useAction()
  if (state === 'canceled') return null
  const resend = () =>
    run('resend', async () => {
      const { message } = await call('/resend-webhook', { event_id: id })
      touchSoon()
      return message
    })
  return html`
    <button type="button" class="small quiet" aria-disabled=${busy !== undefined} onClick=${resend}>
      ${busy ? 'Resending …' : done ? 'Resent' : error ? 'Try again' : 'Resend'}
      <span class="hidden">${` ${words(name)} for lead ${lead}`}</span>
    </button>
    <span class="hidden" role="status">${busy ? 'Resending …' : done}</span>
    ${error && html`<span class="bad hint sentence" role="alert">Not resent. ${error.message}</span>`}
  `
}
