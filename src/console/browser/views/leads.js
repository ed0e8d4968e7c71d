import { html, useEffect, useState } from '../preact.js'
import { call } from '../api.js'
import { useLoad } from '../live.js'
import { Badge, Empty, Failure, Loading, Time } from '../parts.js'
import { link, replace } from '../route.js'
import { counted, journey, words } from '../words.js'

/** @typedef {{ lead_id: number, partner_lead_id: string | null, status: string, closed: boolean, closed_at: string | null, delivery: 'ok' | 'failing' | 'held', open_deliveries: number, created_at: string, updated_at: string }} ListedLead */

const LOOK_AGAIN_MS = 2000

/** @param {{ query: URLSearchParams }} props */
export function LeadsView({ query }) {
  const filter = {
    status: query.get('status') ?? '',
    delivery: query.get('delivery') ?? '',
    partner_lead_id: query.get('partner_lead_id') ?? '',
    after: query.get('after') ?? '',
  }
  const { after, ...rest } = filter
  const body = {
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== '')),
    ...(after !== '' && { after: Number(after) }),
  }
  const { data, error, reload } = useLoad(
    (signal) => call('/list-leads', body, { signal }),
    [filter],
    // an attempt that ends is no event
    ({ data: leads }) => (leads.some(isOpen) ? LOOK_AGAIN_MS : undefined),
  )
  const isFiltered = Object.keys(body).length > 0
  return html`
    <div class="head">
      <h1 tabindex="-1">Leads</h1>
      <a class="button primary" href=${link('leads/new')}>New lead</a>
    </div>
    <${Filters} filter=${filter} />
    <${Failure} error=${error} again=${reload} />
    ${data === undefined && error === undefined && html`<${Loading} />`}
    ${data !== undefined && data.data.length === 0 && html`<${NoLeads} isFiltered=${isFiltered} />`}
    ${data !== undefined && data.data.length > 0 && html`<${LeadTable} leads=${data.data} />`}
    ${data !== undefined && html`<${Pages} filter=${filter} next=${data.next} />`}
  `
}

/** @param {ListedLead} lead */
const isOpen = ({ open_deliveries: open }) => open > 0

/** @param {{ filter: Record<string, string> }} props */
function Filters({ filter }) {
  // what is typed outlives a list that loads again meanwhile
  const [typed, setTyped] = useState(filter.partner_lead_id)
  useEffect(() => setTyped(filter.partner_lead_id), [filter.partner_lead_id])
  const change = (/** @type {Event} */ event) => {
    const { name, value } = /** @type {HTMLInputElement | HTMLSelectElement} */ (event.currentTarget)
    replace(link('leads', { ...filter, after: '', [name]: value.trim() }))
  }
  return html`
    <form
      class="filters"
      role="search"
      aria-label="Filter leads"
      onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}
    >
      <label
        ><span>Status</span>
        <select name="status" value=${filter.status} onChange=${change}>
          <option value="">Any</option>
          ${journey.map(({ name }) => html`<option value=${name}>${words(name)}</option>`)}
        </select>
      </label>
      <label
        ><span>Webhooks</span>
        <select name="delivery" value=${filter.delivery} onChange=${change}>
          <option value="">Any</option>
          <option value="failing">Failing</option>
          <option value="held">Held</option>
        </select>
      </label>
      <label class="grow"
        ><span>Your lead id</span>
        <input
          name="partner_lead_id"
          value=${typed}
          placeholder="Exact, such as LOAN-1"
          onInput=${(/** @type {Event} */ event) =>
            setTyped(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
          onChange=${change}
        />
      </label>
    </form>
  `
}

/** @param {{ leads: ListedLead[] }} props */
const LeadTable = ({ leads }) => html`
  <div class="card table" role="region" aria-label="Leads" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col" class="number">Lead</th>
          <th scope="col">Your lead id</th>
          <th scope="col">Status</th>
          <th scope="col" class="wide-only">Webhooks</th>
          <th scope="col" class="wide-only">Last change</th>
          <th scope="col" class="wide-only">Created</th>
        </tr>
      </thead>
      <tbody>
        ${leads.map((lead) => html`<${LeadRow} key=${lead.lead_id} lead=${lead} />`)}
      </tbody>
    </table>
  </div>
`

/** @param {{ lead: ListedLead }} props */
const LeadRow = ({ lead }) => html`
  <tr>
    <td class="number"><a class="row" href=${link(`leads/${lead.lead_id}`)}>${lead.lead_id}</a></td>
    <td class="id">${lead.partner_lead_id ?? html`<span class="dim">–</span>`}</td>
    <td>
      <span class="badges"
        ><${Badge} state=${lead.status} />${lead.closed && html`<${Badge} state="closed" />`}</span
      >
      <span class="narrow-only"><${WebhookMark} lead=${lead} /></span>
    </td>
    <td class="wide-only"><${WebhookMark} lead=${lead} /></td>
    <td class="wide-only"><${Time} at=${lead.updated_at} as="past" /></td>
    <td class="wide-only"><${Time} at=${lead.created_at} as="past" /></td>
  </tr>
`

/** @param {{ lead: ListedLead }} props */
function WebhookMark({ lead: { delivery, open_deliveries: open } }) {
  if (delivery !== 'ok')
    return html`<${Badge} state=${delivery} /> <span class="dim">${counted(open, 'webhook')}</span>`
  return html`<${Badge}
    state=${open > 0 ? 'sending' : 'ok'}
    text=${open > 0 ? undefined : 'All delivered'}
  />`
}

/** @param {{ isFiltered: boolean }} props */
const NoLeads = ({ isFiltered }) =>
  isFiltered
    ? html`<${Empty}
        title="No lead matches"
        action=${html`<a class="button" href=${link('leads')}>Show all leads</a>`}
      >
        Your lead id must be exactly the one you sent.
      <//>`
    : html`<${Empty}
        title="No leads yet"
        action=${html`<a class="button primary" href=${link('leads/new')}>Create your first lead</a>`}
      >
        A lead is one borrower whom you referred. Create one here or with create-lead, and it appears at once.
      <//>`

/** @param {{ filter: Record<string, string>, next: number | null }} props */
const Pages = ({ filter, next }) => html`
  <nav class="pages" aria-label="Pages">
    ${filter.after !== '' && html`<a class="button" href=${link('leads', { ...filter, after: '' })}>Newest</a>`}
    ${next !== null && html`<a class="button" href=${link('leads', { ...filter, after: String(next) })}>Older</a>`}
  </nav>
`
