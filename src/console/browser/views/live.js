import { html } from '../preact.js'
import { call } from '../api.js'
import { lookAgainMs, outcomeOf, shownState } from '../lead-data.js'
import { touch, useLive, useLoad } from '../live.js'
import { Badge, Empty, Failure, Loading, Time, useAction } from '../parts.js'
import { link, replace } from '../route.js'
import { duration } from '../time.js'
import { counted, words } from '../words.js'

/** @typedef {import('../lead-data.js').Delivery} Delivery */
/** @typedef {{ event_id: string, event_name: string, lead_id: number, created_at: string, delivery?: Delivery, isNew: boolean }} Row */

/** @param {{ query: URLSearchParams }} props */
export function LiveView({ query }) {
  const feed = useLive()
  const state = query.get('states') ?? ''
  const after = query.get('after') ?? ''
  const body = { limit: 50, ...(state !== '' && { states: [state] }), ...(after !== '' && { after }) }
  const { data, error, reload } = useLoad(
    (signal) => call('/get-deliveries', body, { signal }),
    [body],
    ({ data: deliveries }) => lookAgainMs(deliveries),
  )
  const isWhole = state === '' && after === ''
  const rows = data === undefined ? [] : merge(data.data, feed.events, isWhole)
  return html`
    <div class="head">
      <h1 tabindex="-1">Live</h1>
      <p class="dim" role="status">${arrivals(feed.events.length)}</p>
    </div>
    <${Filter} state=${state} />
    <${Failure} error=${error} again=${reload} />
    ${data === undefined && error === undefined && html`<${Loading} />`}
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
 * Webhooks, and the events that are not sent. Ids of events sort by time.
 *
 * @param {Delivery[]} deliveries
 * @param {import('../live.js').FeedEvent[]} events
 * @param {boolean} isWhole without a filter
 * @returns {Row[]}
 */
function merge(deliveries, events, isWhole) {
  const fresh = new Set(events.map(({ event_id: id }) => id))
  const sent = new Set(deliveries.map(({ event_id: id }) => id))
  const oldest = deliveries.at(-1)?.event_id ?? ''
  const unsent = isWhole ? events.filter(({ event_id: id }) => !sent.has(id) && id > oldest) : []
  const rows = [
    ...deliveries.map((delivery) => ({ ...delivery, delivery, isNew: fresh.has(delivery.event_id) })),
    ...unsent.map((event) => ({ ...event, isNew: true })),
  ]
  return rows.toSorted((a, b) => (a.event_id < b.event_id ? 1 : -1))
}

/** @param {{ state: string }} props */
const Filter = ({ state }) => html`
  <form
    class="filters"
    role="search"
    aria-label="Filter webhooks"
    onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}
  >
    <label
      ><span>Webhooks</span>
      <select
        value=${state}
        onChange=${(/** @type {Event} */ event) => replace(link('live', { states: /** @type {HTMLSelectElement} */ (event.currentTarget).value }))}
      >
        <option value="">All</option>
        ${['pending', 'held', 'delivered', 'given_up', 'canceled'].map((name) => html`<option value=${name}>${words(name)}</option>`)}
      </select>
    </label>
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

/** @param {{ rows: Row[] }} props */
const Rows = ({ rows }) => html`
  <div class="card table" role="region" aria-label="Webhooks" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col" class="number wide-only">Lead</th>
          <th scope="col">Webhook</th>
          <th scope="col" class="wide-only">Last attempt</th>
          <th scope="col" class="wide-only">When</th>
          <th scope="col" class="wide-only"><span class="hidden">Resend</span></th>
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => html`<${LiveRow} key=${row.event_id} row=${row} />`)}
      </tbody>
    </table>
  </div>
`

/** @param {{ row: Row }} props */
const LiveRow = ({
  row: { event_id: id, event_name: name, lead_id: lead, created_at: at, delivery, isNew },
}) => html`
  <tr class=${isNew ? 'fresh' : ''}>
    <td>
      <a class="row" href=${link(`leads/${lead}`, { event: delivery && id })}>${words(name)}</a>
      <span class="narrow-only dim">Lead ${lead} · <${Time} at=${at} as="past" /></span>
      ${(delivery?.attempts.length ?? 0) > 0 && html`<span class="narrow-only figure"><${LastAttempt} delivery=${delivery} /></span>`}
    </td>
    <td class="number figure wide-only">${lead}</td>
    <td>
      ${delivery ? html`<${Badge} state=${shownState(delivery)} />` : html`<span class="dim">Not sent</span>`}
      <span class="narrow-only"><${Resend} delivery=${delivery} /></span>
    </td>
    <td class="figure wide-only">${delivery && html`<${LastAttempt} delivery=${delivery} />`}</td>
    <td class="wide-only"><${Time} at=${at} as="past" /></td>
    <td class="end wide-only"><${Resend} delivery=${delivery} /></td>
  </tr>
`

/** @param {{ delivery: Delivery }} props */
function LastAttempt({ delivery: { attempts } }) {
  const last = attempts.at(-1)
  if (last === undefined) return html`<span class="dim">–</span>`
  const { text } = outcomeOf(last)
  return html`${text}${' '}<span class="dim"
      >· ${duration(last.duration_ms)}${last.number > 1 && ` · attempt ${last.number}`}</span
    >`
}

/** @param {{ delivery: Delivery | undefined }} props */
const Resend = ({ delivery }) =>
  delivery === undefined || delivery.state === 'canceled'
    ? null
    : html`<${ResendButton} delivery=${delivery} />`

/** @param {{ delivery: Delivery }} props */
function ResendButton({ delivery: { event_id: id, event_name: name, lead_id: lead } }) {
  const { busy, error, done, run } = useAction()
  const resend = () =>
    run('resend', async () => {
      const { message } = await call('/resend-webhook', { event_id: id })
      touch()
      return message
    })
  return html`
    <button
      type="button"
      class="small quiet"
      aria-label=${`Resend ${words(name)} for lead ${lead}`}
      aria-disabled=${busy !== undefined}
      onClick=${resend}
    >
      ${done ? 'Resent' : error ? 'Failed' : 'Resend'}
    </button>
  `
}
