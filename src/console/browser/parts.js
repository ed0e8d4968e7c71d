import { createContext, html, useEffect, useRef, useState } from './preact.js'
import { explain } from './api.js'
import { stateOf } from './words.js'

/** @typedef {import('preact').ComponentChildren} Children */

const TICK_MS = 5000

/** The present, a few times a minute. */
export function useNow() {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** How far the clock of the lead that is shown is ahead, in milliseconds. */
export const Ahead = createContext(0)

/** A state as a dot and a word. @param {{ state: string, text?: string }} props */
export function Badge({ state, text }) {
  const { text: word, tone } = stateOf(state)
  return html`<span class=${`badge ${tone}`}><i></i>${text ?? word}</span>`
}

/**
 * What happened and what to try.
 *
 * @param {{ error: Error | undefined, again?: () => void }} props `again`: of what is loaded again by itself, too
 */
export function Failure({ error, again }) {
  if (error === undefined) return null
  const [what, advice] = explain(error, again !== undefined)
  return html`
    <div class="failure" role="alert">
      <p><strong>${what}</strong> ${advice}</p>
      ${again && html`<button type="button" onClick=${again}>Try again</button>`}
    </div>
  `
}

/** What a view shows until it has its data, and what went wrong. @param {{ of: { data: unknown, error: Error | undefined, reload: () => void } }} props */
export const Pending = ({ of: { data, error, reload } }) => html`
  <${Failure} error=${error} again=${reload} />
  ${data === undefined && error === undefined && html`<${Loading} />`}
`

export const Loading = () => html`<p class="loading" role="status">Loading …</p>`

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

/** What was done, read out. @param {{ isChange?: boolean, children?: Children }} props */
export const Done = ({ isChange = true, children }) =>
  html`<p class=${isChange ? 'done' : 'dim'} role="status">${children}</p>`

/** @param {{ name: string, children?: Children }} props */
export const Fact = ({ name, children }) => html`
  <div>
    <dt>${name}</dt>
    <dd>${children}</dd>
  </div>
`
