import { html, useEffect, useState } from '../preact.js'
import { call } from '../api.js'
import { Field, problemOf, problemsOf } from '../fields.js'
import { useLoad } from '../live.js'
import { Badge, Failure, Loading } from '../parts.js'
import { link, replace } from '../route.js'
import { styled } from '../styled.js'
import { duration } from '../time.js'
import { Utc } from '../utc.js'
import { Empty } from './empty.js'
import { Curl } from './curls.js'

await styled('forms.css', 'filters.css', 'listed.css', 'rows.css')

/** @typedef {{ request_id: string, key_id: number, key_last4: string | null, call: string, status: number, error_code: string | null, fields: string[], lead_id: number | null, duration_ms: number, created_at: string }} MadeRequest */

/** A request is no event. */
const LOOK_AGAIN_MS = 3000

const classes = { '2xx': 'Succeeded (2xx)', '4xx': 'Refused (4xx)', '5xx': 'Our fault (5xx)' }
const statuses = ['400', '401', '404', '409', '422', '429', '503']

/** @type {import('../fields.js').FormField[]} */
const textFields = [
  { name: 'lead_id', label: 'Lead', type: 'text', placeholder: 'Such as 1042' },
  { name: 'request_id', label: 'Request id', type: 'text', placeholder: 'The X-Request-Id' },
]

/** @param {{ query: URLSearchParams }} props */
export function RequestsView({ query }) {
  const filter = {
    status: query.get('status') ?? '',
    lead_id: query.get('lead_id') ?? '',
    request_id: query.get('request_id') ?? '',
    after: query.get('after') ?? '',
  }
  const { lead_id: lead, ...rest } = filter
  const body = {
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== '')),
    ...(lead !== '' && { lead_id: Number(lead) }),
  }
  const isNoId = !/^\d*$/.test(lead)
  const { data, error, reload } = useLoad(
    async (signal) => (isNoId ? null : call('/list-requests', body, { signal })),
    [filter],
    () => (filter.after === '' && !isNoId ? LOOK_AGAIN_MS : undefined),
  )
  const problems = isNoId
    ? [{ field: 'lead_id', problem: 'Enter our lead id, such as 1042: digits only.' }]
    : problemsOf(error, textFields)
  const isFiltered = Object.keys(body).length > 0
  return html`
    <div class="head">
      <h1 tabindex="-1">Requests</h1>
      <p class="dim">Of the last seven days, without request bodies. The console’s own are left out.</p>
    </div>
    <${Filters} filter=${filter} problems=${problems} />
    ${problems.length === 0 && html`<${Failure} error=${error} again=${reload} />`}
    ${data === undefined && error === undefined && !isNoId && html`<${Loading} />`}
    ${data?.data.length === 0 && html`<${NoRequests} isFiltered=${isFiltered} />`}
    ${data?.data.length > 0 && html`<${RequestTable} requests=${data.data} />`}
    ${data && html`<${Pages} filter=${filter} next=${data.next} />`}
    ${!isNoId && html`<${Curl} path="/list-requests" body=${body} />`}
  `
}

/** @param {{ filter: Record<string, string>, problems: import('../types.js').FieldProblem[] }} props */
function Filters({ filter, problems }) {
  const change = (/** @type {Event} */ event) => {
    const { name, value } = /** @type {HTMLInputElement | HTMLSelectElement} */ (event.currentTarget)
    replace(link('requests', { ...filter, after: '', [name]: value.trim() }))
  }
  return html`
    <form
      class="filters"
      role="search"
      aria-label="Filter requests"
      onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}
    >
      <label
        ><span>Status</span>
        <select name="status" value=${filter.status} onChange=${change}>
          <option value="">Any</option>
          ${Object.entries(classes).map(([value, text]) => html`<option value=${value}>${text}</option>`)}
          ${statuses.map((value) => html`<option value=${value}>${value}</option>`)}
        </select>
      </label>
      ${textFields.map(
        (field) =>
          html`<${Typed}
            key=${field.name}
            field=${field}
            value=${filter[field.name] ?? ''}
            problem=${problemOf(problems, field.name)}
            onChange=${change}
          />`,
      )}
    </form>
  `
}

/** @param {{ field: import('../fields.js').FormField, value: string, problem: string | undefined, onChange: (event: Event) => void }} props */
function Typed({ value, ...props }) {
  // what is typed outlives a list that loads again meanwhile
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  return html`<${Field}
    ...${props}
    value=${typed}
    isAlone
    onInput=${(/** @type {Event} */ event) =>
      setTyped(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
  />`
}

/** @param {{ requests: MadeRequest[] }} props */
const RequestTable = ({ requests }) => html`
  <div class="card table" role="region" aria-label="Requests">
    <table class="dense">
      <thead>
        <tr>
          <th scope="col" class="wide-only">Made (UTC)</th>
          <th scope="col">Call</th>
          <th scope="col" class="number wide-only">Lead</th>
          <th scope="col">Response</th>
          <th scope="col" class="wide-only">Key</th>
          <th scope="col" class="number wide-only">Took</th>
        </tr>
      </thead>
      <tbody>
        ${requests.map((request) => html`<${RequestRow} key=${request.request_id} request=${request} />`)}
      </tbody>
    </table>
  </div>
`

/** @param {{ request: MadeRequest }} props */
const RequestRow = ({ request }) => {
  const { request_id: id, key_last4: key, lead_id: lead, duration_ms: ms, created_at: at } = request
  return html`
    <tr>
      <td class="wide-only"><${Utc} at=${at} /></td>
      <td>
        <${Call} request=${request} />
        <span class="below dim id wide-only">${id}</span>
        <span class="narrow-only dim"
          ><${Utc} at=${at} zone />${lead !== null && ` · lead\u00A0${lead}`} · ${duration(ms)}</span
        >
      </td>
      <td class="number figure wide-only">${lead ?? html`<span class="dim">–</span>`}</td>
      <td>
        <${Badge} state=${request.status < 400 ? 'ok' : 'failed'} text=${String(request.status)} />
        <${Fault} request=${request} />
      </td>
      <td class="figure wide-only">${key === null ? html`<span class="dim">–</span>` : `…${key}`}</td>
      <td class="number figure wide-only">${duration(ms)}</td>
    </tr>
  `
}

/** It leads to its lead, unless there is none. @param {{ request: MadeRequest }} props */
const Call = ({ request: { call: name, lead_id: lead, error_code: code } }) =>
  lead === null || code === 'NOT_FOUND'
    ? html`<strong>${name}</strong>`
    : html`<a class="row" href=${link(`leads/${lead}`)}>${name}</a>`

/** @param {{ request: MadeRequest }} props */
const Fault = ({ request: { error_code: code, fields } }) =>
  code !== null &&
  html`<span class="below dim">${code}${fields.length > 0 && html`: <b>${fields.join(', ')}</b>`}</span>`

/** @param {{ isFiltered: boolean }} props */
const NoRequests = ({ isFiltered }) =>
  isFiltered
    ? html`<${Empty}
        title="No request matches"
        action=${html`<a class="button" href=${link('requests')}>Show all requests</a>`}
      >
        A request is listed about a second after its response.
      <//>`
    : html`<${Empty} title="No requests yet">
        What your system sends with a key of yours appears here about a second after the response.
      <//>`

/** @param {{ filter: Record<string, string>, next: string | null }} props */
const Pages = ({ filter, next }) => html`
  <nav class="pages" aria-label="Pages">
    ${filter.after !== '' && html`<a class="button" href=${link('requests', { ...filter, after: '' })}>Newest</a>`}
    ${next !== null && html`<a class="button" href=${link('requests', { ...filter, after: next })}>Older</a>`}
  </nav>
`
