import { html, useEffect, useRef, useState } from '../preact.js'
import { Input, Select } from '../inputs.js'
import { link, replace } from '../route.js'
import { journey, words } from '../words.js'

/** @typedef {import('../leads-data.js').Filter} Filter */

/** @param {{ filter: Filter }} props */
export function Filters({ filter }) {
  const [isShown, show] = useState(
    () =>
      [filter.status, filter.delivery, filter.closed, filter.from, filter.until, filter.sort].join('') !== '',
  )
  const input = (/** @type {keyof Filter} */ name) => ({
    name,
    value: filter[name],
    onValue: (/** @type {string} */ value) =>
      replace(link('leads', { ...filter, after: '', [name]: value.trim() })),
  })
  return html`
    <form
      class="filters"
      role="search"
      aria-label="Filter leads"
      onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}
    >
      <${Search} ...${input('search')} />
      <button type="button" aria-expanded=${isShown} onClick=${() => show(!isShown)}>Filter and sort</button>
      ${
        isShown &&
        html`<div class="more">
          <${Select} ...${input('status')} label="Status" options=${statuses} />
          <${Select} ...${input('delivery')} label="Webhooks" options=${deliveries} />
          <${Select} ...${input('closed')} label="Open or closed" options=${endings} />
          <${Input} ...${input('from')} label="Created from (UTC)" type="date" />
          <${Input} ...${input('until')} label="until (UTC)" type="date" />
          <${Select} ...${input('sort')} label="Order" options=${orders} />
        </div>`
      }
    </form>
  `
}

/** @typedef {[value: string, text: string][]} Options */

/** @type {Options} */
const statuses = [
  ['', 'Any'],
  ...journey.map(({ name }) => /** @type {[string, string]} */ ([name, words(name)])),
]
/** @type {Options} */
const deliveries = [
  ['', 'Any'],
  ['failing', 'Failing'],
  ['held', 'Held'],
]
/** @type {Options} */
const endings = [
  ['', 'Any'],
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

/** Searches while it is typed. @param {{ value: string, onValue: (text: string) => void }} props */
function Search({ value, onValue, ...attributes }) {
  const [typed, setTyped] = useState(value)
  const sent = useRef(value)
  const latest = useRef(onValue)
  latest.current = onValue
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
  return html`<${Input}
    ...${attributes}
    label="Our lead id, or the beginning of yours"
    type="search"
    value=${typed}
    placeholder="1042 or LOAN-1"
    onValue=${setTyped}
  />`
}
