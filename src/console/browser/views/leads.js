import { html, useState } from '../preact.js'
import { call } from '../api.js'
import { Field } from '../forms.js'
import { useLoad } from '../live.js'
import { Badge, Empty, Pending } from '../parts.js'
import { link, replace } from '../route.js'
import { Utc } from '../time.js'
import { counted, journey, words } from '../words.js'

/** @import { LeadSummary } from '../types.js' */
/** @typedef {Record<'search' | 'status' | 'delivery' | 'closed' | 'after', string>} Filter */

const PAGE = 50
const MOST_ID = 2_147_483_647
/** No event says that an attempt has ended, or that a lead was erased. */
const LOOK_AGAIN_MS = 3000

/** @param {{ query: URLSearchParams }} props */
export function LeadsView({ query }) {
  const of = (/** @type {string} */ name) => query.get(name) ?? ''
  /** @type {Filter} */
  const filter = {
    search: of('search'),
    status: of('status'),
    delivery: of('delivery'),
    closed: of('closed'),
    after: of('after'),
  }
  const loaded = useLoad(
    (signal) => loadLeads(filter, signal),
    [filter],
    () => LOOK_AGAIN_MS,
  )
  const { data } = loaded
  return html`
    <div class="head">
      <h1 tabindex="-1">Leads</h1>
      <a class="button primary" href=${link('leads/new')}>New lead</a>
    </div>
    <${Filters} filter=${filter} />
    <${Pending} of=${loaded} />
    ${data && (data.leads.length > 0 ? html`<${Table} leads=${data.leads} />` : html`<${NoLeads} filter=${filter} />`)}
    <nav class="pages" aria-label="Pages">
      ${filter.after !== '' && html`<a class="button" href=${link('leads', { ...filter, after: '' })}>Newest</a>`}
      ${data?.next && html`<a class="button" href=${link('leads', { ...filter, after: String(data.next) })}>Older</a>`}
    </nav>
  `
}

/** @param {Filter} filter @param {AbortSignal} signal */
async function loadLeads({ search, status, delivery, closed, after }, signal) {
  const text = search.trim()
  const { data, next } = await call(
    '/list-leads',
    {
      limit: PAGE,
      ...(after !== '' && { after: Number(after) }),
      ...(status !== '' && { status }),
      ...(delivery !== '' && { delivery }),
      ...(closed !== '' && { closed: closed === 'yes' }),
      ...(text !== '' && { partner_lead_id_prefix: text }),
    },
    { signal },
  )
  // the text may be our id of a lead, too, which list-leads does not search for
  const id = /^\d{1,10}$/.test(text) && after === '' ? Number(text) : 0
  if (id === 0 || id >= MOST_ID) return { leads: data, next }
  const { data: below } = await call('/list-leads', { after: id + 1, limit: 1 }, { signal })
  const isFound = (/** @type {LeadSummary} */ lead) => lead.lead_id === id
  return { leads: [...below.filter(isFound), ...data.filter((lead) => !isFound(lead))], next }
}

/** @typedef {[value: string, text: string][]} Options */

/** What narrows the list down, beside the search. @type {[keyof Filter, string, Options][]} */
const choices = [
  ['status', 'Status', journey.map(({ name }) => [name, words(name)])],
  ['delivery', 'Webhooks', ['failing', 'held'].map((name) => [name, words(name)])],
  ['closed', 'Open or closed', Object.entries({ no: 'Open', yes: 'Closed' })],
]

/** @param {{ filter: Filter }} props */
function Filters({ filter }) {
  const [isShown, show] = useState(choices.some(([name]) => filter[name] !== ''))
  const input = (/** @type {keyof Filter} */ name) => ({
    name,
    value: filter[name],
    onValue: (/** @type {string} */ value) => replace(link('leads', { ...filter, after: '', [name]: value })),
  })
  return html`
    <div class="filters" role="search" aria-label="Filter leads">
      <${Field}
        ...${input('search')}
        label="Our lead id, or the beginning of yours"
        type="search"
        placeholder="1042 or LOAN-1"
      />
      <button type="button" aria-expanded=${isShown} onClick=${() => show(!isShown)}>Filter</button>
      ${
        isShown &&
        html`<div class="more">
          ${choices.map(([name, label, options]) => html`<${Field} ...${input(name)} label=${label} options=${[['', 'Any'], ...options]} />`)}
        </div>`
      }
    </div>
  `
}

/** @param {{ leads: LeadSummary[] }} props */
const Table = ({ leads }) => html`
  <div class="card table leads">
    <table>
      <thead>
        <tr>
          <th scope="col" class="number">Lead</th>
          <th scope="col" class="wide-only">Your lead id</th>
          <th scope="col">Status</th>
          <th scope="col" class="wide-only">Webhooks</th>
          <th scope="col" class="wide-only">Last change <small>lead’s clock, UTC</small></th>
          <th scope="col" class="wide-only">Created <small>UTC</small></th>
        </tr>
      </thead>
      <tbody>
        ${leads.map((lead) => html`<${Row} key=${lead.lead_id} lead=${lead} />`)}
      </tbody>
    </table>
  </div>
`

/** @param {{ lead: LeadSummary }} props */
function Row({ lead }) {
  const { lead_id: id, partner_lead_id: own, status, closed, delivery, open_deliveries: open } = lead
  const isWell = delivery === 'ok' && open === 0
  return html`
    <tr>
      <td class="number">
        <a class="row" href=${link(`leads/${id}`)}>${id}</a>
        <span class="narrow-only dim unbroken">${own}</span>
      </td>
      <td class="id wide-only" title=${own}>${own ?? html`<span class="dim">–</span>`}</td>
      <td>
        <span class="badges">
          <${Badge} state=${status} />${closed && html`<${Badge} state="closed" />`}
        </span>
        ${!isWell && html`<span class="narrow-only"><${Webhooks} lead=${lead} /></span>`}
      </td>
      <td class="wide-only"><${Webhooks} lead=${lead} /></td>
      <td class="wide-only"><${Utc} at=${lead.updated_at} /></td>
      <td class="wide-only"><${Utc} at=${lead.created_at} /></td>
    </tr>
  `
}

/** @param {{ lead: LeadSummary }} props */
const Webhooks = ({ lead: { delivery, open_deliveries: open } }) => html`
  <${Badge} state=${delivery === 'ok' && open > 0 ? 'sending' : delivery} />
  ${delivery !== 'ok' && html` <span class="dim">${counted(open, 'webhook')}</span>`}
`

/** @param {{ filter: Filter }} props */
const NoLeads = ({ filter }) =>
  Object.values(filter).some((value) => value !== '')
    ? html`<${Empty}
        title="No lead matches"
        action=${html`<a class="button" href=${link('leads')}>Show all leads</a>`}
      >
        ${filter.search !== '' && 'Enter our full lead id, such as 1042, or the beginning of yours. Upper and lower case matter.'}
      <//>`
    : html`<${Empty}
        title="No leads yet"
        action=${html`<a class="button primary" href=${link('leads/new')}>Create your first lead</a>`}
      >
        A lead is one borrower whom you referred. Create one here or with create-lead, and it appears at once.
      <//>`
