import { html, useEffect, useRef, useState } from '../preact.js'
import { link, replace } from '../route.js'
import { journey, words } from '../words.js'

/** @typedef {import('../leads-data.js').Filter} Filter */

/** @param {{ filter: Filter }} props */
export function Filters({ filter }) {
  const [isShown, show] = useState(
    () =>
      [filter.status, filter.delivery, filter.closed, filter.from, filter.until, filter.sort].join('') !== '',
  )
  const change = (/** @type {Event} */ event) => {
    const { name, value } = /** @type {HTMLInputElement | HTMLSelectElement} */ (event.currentTarget)
    replace(link('leads', { ...filter, after: '', [name]: value.trim() }))
  }
  return html`
    <form
      class="filters of-leads"
      role="search"
      aria-label="Filter leads"
      onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}
    >
      <${Search}
        value=${filter.search}
        search=${(/** @type {string} */ search) => replace(link('leads', { ...filter, after: '', search }))}
      />
      <button type="button" aria-expanded=${isShown} onClick=${() => show(!isShown)}>Filter and sort</button>
      ${
        isShown &&
        html`<div class="more">
          <${Choice}
            name="status"
            label="Status"
            value=${filter.status}
            change=${change}
            options=${statuses}
          />
          <${Choice}
            name="delivery"
            label="Webhooks"
            value=${filter.delivery}
            change=${change}
            options=${deliveries}
          />
          <${Choice}
            name="closed"
            label="Open or closed"
            value=${filter.closed}
            change=${change}
            options=${endings}
          />
          <${Day} name="from" label="Created from (UTC)" value=${filter.from} change=${change} />
          <${Day} name="until" label="until (UTC)" value=${filter.until} change=${change} />
          <${Choice} name="sort" label="Order" value=${filter.sort} change=${change} options=${orders} />
        </div>`
      }
    </form>
  `
}

/** @typedef {[value: string, text: string][]} Options */

/** @type {Options} */
const statuses = journey.map(({ name }) => [name, words(name)])
/** @type {Options} */
const deliveries = [
  ['failing', 'Failing'],
  ['held', 'Held'],
]
/** @type {Options} */
const endings = [
  ['no', 'Open'],
  ['yes', 'Closed'],
]

/** @type {Options} */
const orders = [
  ['', 'Newest first'],
  ['oldest', 'Oldest first'],
  ['changed', 'Last change, newest first'],
  ['unchanged', 'Last change, oldest first'],
  ['name', 'Your lead id, A to Z'],
  ['name-down', 'Your lead id, Z to A'],
]

const PAUSE_MS = 300

/** Searches while it is typed. @param {{ value: string, search: (text: string) => void }} props */
function Search({ value, search }) {
  const [typed, setTyped] = useState(value)
  const sent = useRef(value)
  const latest = useRef(search)
  latest.current = search
  // what is typed outlives a list that loads again meanwhile; a link or the back button replaces it
  useEffect(() => {
    if (value !== sent.current) setTyped(value)
    sent.current = value
  }, [value])
  useEffect(() => {
    const text = typed.trim()
    if (text === sent.current) return undefined
    const timer = setTimeout(() => {
      sent.current = text
      latest.current(text)
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return html`
    <label class="grow"
      ><span>Our lead id, or the beginning of yours</span>
      <input
        name="search"
        type="search"
        value=${typed}
        placeholder="1042 or LOAN-1"
        onInput=${(/** @type {Event} */ event) =>
          setTyped(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
      />
    </label>
  `
}

/** @param {{ name: string, label: string, value: string, change: (event: Event) => void, options: Options }} props */
const Choice = ({ name, label, value, change, options }) => html`
  <label
    ><span>${label}</span>
    <select name=${name} value=${value} onChange=${change}>
      ${options[0]?.[0] !== '' && html`<option value="">Any</option>`}
      ${options.map(([option, text]) => html`<option value=${option}>${text}</option>`)}
    </select>
  </label>
`

/** @param {{ name: string, label: string, value: string, change: (event: Event) => void }} props */
const Day = ({ name, label, value, change }) => html`
  <label
    ><span>${label}</span>
    <input name=${name} type="date" value=${value} onChange=${change} />
  </label>
`
