import { html } from '../preact.js'
import { loadLeads } from '../leads-data.js'
import { styled } from '../styled.js'
import { useLoad } from '../live.js'
import { Pending } from '../parts.js'
import { link } from '../route.js'
import { Empty } from './empty.js'
import { Filters } from './leads-filters.js'
import { LeadTable } from './leads-table.js'

/** @typedef {import('../leads-data.js').Filter} Filter */

const LOOK_AGAIN_MS = 2000
/** What is no event comes this late: a lead that was closed or erased. A sorted list takes several calls. */
const LATE_MS = 10_000
await styled('forms.css', 'lists.css')

/** @param {{ query: URLSearchParams }} props */
export function LeadsView({ query }) {
  const of = (/** @type {string} */ name) => query.get(name) ?? ''
  /** @type {Filter} */
  const filter = {
    status: of('status'),
    delivery: of('delivery'),
    closed: of('closed'),
    from: of('from'),
    until: of('until'),
    search: of('search'),
    sort: of('sort'),
    after: of('after'),
  }
  const loaded = useLoad(
    (signal) => loadLeads(filter, signal),
    [filter],
    // an attempt that ends is no event
    ({ leads }) => (filter.sort === '' && leads.some(isOpen) ? LOOK_AGAIN_MS : LATE_MS),
  )
  const { data } = loaded
  const isFiltered = Object.entries(filter).some(([name, value]) => name !== 'sort' && value !== '')
  return html`
    <div class="head">
      <h1 tabindex="-1">Leads</h1>
      <a class="button primary" href=${link('leads/new')}>New lead</a>
    </div>
    <${Filters} filter=${filter} />
    <${Pending} of=${loaded} />
    ${data !== undefined && data.leads.length === 0 && html`<${NoLeads} isFiltered=${isFiltered} isSearch=${filter.search !== ''} />`}
    ${data !== undefined && data.leads.length > 0 && html`<${LeadTable} leads=${data.leads} filter=${filter} />`}
    ${data?.isCut && html`<p class="dim after-table">These are the newest ${data.leads.length}, sorted here: list-leads has no order but the newest first. To sort all, filter them.</p>`}
    ${data !== undefined && html`<${Pages} filter=${filter} next=${data.next} />`}
  `
}

/** @param {import('../types.js').LeadSummary} lead */
const isOpen = ({ open_deliveries: open }) => open > 0

/** @param {{ isFiltered: boolean, isSearch: boolean }} props */
const NoLeads = ({ isFiltered, isSearch }) =>
  isFiltered
    ? html`<${Empty}
        title="No lead matches"
        action=${html`<a class="button" href=${link('leads')}>Show all leads</a>`}
      >
        ${isSearch && 'Enter our lead id in full, such as 1042, or the beginning of yours. Upper and lower case matter.'}
      <//>`
    : html`<${Empty}
        title="No leads yet"
        action=${html`<a class="button primary" href=${link('leads/new')}>Create your first lead</a>`}
      >
        A lead is one borrower whom you referred. Create one here or with create-lead, and it appears at once.
      <//>`

/** @param {{ filter: Filter, next: number | null }} props */
const Pages = ({ filter, next }) => html`
  <nav class="pages" aria-label="Pages">
    ${filter.after !== '' && html`<a class="button" href=${link('leads', { ...filter, after: '' })}>Newest</a>`}
    ${next !== null && html`<a class="button" href=${link('leads', { ...filter, after: String(next) })}>Older</a>`}
  </nav>
`
