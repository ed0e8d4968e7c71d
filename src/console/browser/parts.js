import { createContext, html, useContext, useEffect, useRef, useState } from './preact.js'
import { curl, remedy } from './api.js'
import { clockInZone, dayInZone, distance, inZone, parseTime } from './time.js'
import { stateOf } from './words.js'

/** @typedef {import('preact').ComponentChildren} Children */

const SECONDS_BETWEEN_TICKS = 5
const MINUTE_MS = 60_000

/** The present, a few times a minute. */
function useNow() {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setNow(Date.now()), SECONDS_BETWEEN_TICKS * 1000)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** How far the clock of what is shown is ahead, in milliseconds: in a sandbox, a lead can have a clock of its own. */
export const Ahead = createContext(0)

/**
 * A time of the API in the reader's zone; UTC on hover.
 *
 * @param {{ at: string | null | undefined, as?: 'distance' | 'past' | 'day' | 'clock' | 'full' }} props
 */
export function Time({ at, as = 'distance' }) {
  const now = useNow()
  const ahead = useContext(Ahead)
  if (at === null || at === undefined) return html`<span class="dim">–</span>`
  const date = parseTime(at)
  const text = {
    distance: () => distance(date, Math.max(now, Date.now()) + ahead),
    // in real time; what has happened on a clock that is ahead is a date
    past: () => (date.getTime() > Date.now() + MINUTE_MS ? dayInZone(date) : distance(date, now)),
    day: () => dayInZone(date),
    clock: () => clockInZone(date),
    full: () => inZone(date),
  }[as]()
  const zoned = as === 'full' ? '' : `${inZone(date)} · `
  return html`<time datetime=${date.toISOString()} title=${`${zoned}${at} UTC`}>${text}</time>`
}

/**
 * A state as a dot and a word.
 *
 * @param {{ state: string, text?: string }} props
 */
export function Badge({ state, text }) {
  const { text: word, tone } = stateOf(state)
  return html`<span class=${`badge ${tone}`}><i></i>${text ?? word}</span>`
}

/** @param {{ title: string, children?: Children, action?: Children }} props */
export const Empty = ({ title, children, action }) => html`
  <div class="empty">
    <h2>${title}</h2>
    <p>${children}</p>
    ${action}
  </div>
`

/**
 * What happened and what to try.
 *
 * @param {{ error: Error | undefined, again?: () => void }} props
 */
export const Failure = ({ error, again }) =>
  error === undefined
    ? null
    : html`
        <div class="failure" role="alert">
          <p><strong>${error.message}</strong> ${remedy(error)}</p>
          ${again && html`<button type="button" onClick=${again}>Try again</button>`}
        </div>
      `

export const Loading = () => html`<p class="loading" role="status">Loading …</p>`

/**
 * Copies a text. The word changes for a moment, and is read out.
 *
 * @param {{ text: string, label?: string }} props
 */
function Copy({ text, label = 'Copy' }) {
  const [done, setDone] = useState(false)
  useEffect(() => {
    if (!done) return undefined
    const timer = setTimeout(() => setDone(false), 1500)
    return () => clearTimeout(timer)
  }, [done])
  const copy = () => void navigator.clipboard.writeText(text).then(() => setDone(true))
  return html`<button type="button" class="small quiet" aria-live="polite" onClick=${copy}>
    ${done ? 'Copied' : label}
  </button>`
}

/**
 * Text as it is, ready to copy.
 *
 * @param {{ text: string, label: string, copies?: string }} props
 */
export const Code = ({ text, label, copies }) => html`
  <div class="code">
    <div class="code-head"><span>${label}</span><${Copy} text=${copies ?? text} /></div>
    <pre tabindex="0" role="group" aria-label=${label}><code>${text}</code></pre>
  </div>
`

/** JSON that people can read; text that is none stays as it is. @param {string} text */
export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/**
 * The call that a button makes, for a terminal.
 *
 * @param {{ path: string, body?: object, summary?: string }} props
 */
export const Curl = ({ path, body = {}, summary = 'As curl' }) => html`
  <details class="curl">
    <summary>${summary}</summary>
    <${Code} text=${curl(path, body)} label=${`POST /v1${path}`} />
  </details>
`

/**
 * Runs one action at a time, and keeps what came of it. Meanwhile its buttons are `aria-disabled`: a button that is
 * `disabled` loses the focus.
 *
 * @template T
 */
export function useAction() {
  const [state, setState] = useState(/** @type {{ busy?: string, error?: Error, done?: T }} */ ({}))
  const runs = useRef(false)
  /**
   * @param {string} name of what runs
   * @param {() => Promise<T>} work
   */
  const run = async (name, work) => {
    if (runs.current) return
    runs.current = true
    setState({ busy: name })
    await work().then(
      (done) => setState({ done }),
      (/** @type {unknown} */ error) => setState({ error: /** @type {Error} */ (error) }),
    )
    runs.current = false
  }
  return { ...state, run, clear: () => setState({}) }
}

/** @param {{ children?: Children }} props what was done, read out */
export const Done = ({ children }) => html`<p class="done" role="status">${children}</p>`

/** @param {{ name: string, children?: Children }} props */
export const Fact = ({ name, children }) => html`
  <div>
    <dt>${name}</dt>
    <dd>${children}</dd>
  </div>
`
