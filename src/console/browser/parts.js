import { html, useEffect, useRef, useState } from './preact.js'
import { ApiFailure } from './api.js'
import { stateOf } from './words.js'

/** @typedef {import('preact').ComponentChildren} Children */

/** A state as a dot and a word. @param {{ state: string, text?: string | undefined }} props */
export function Badge({ state, text }) {
  const { text: word, tone } = stateOf(state)
  return html`<span class=${`badge ${tone}`}><i></i>${text ?? word}</span>`
}

/** @param {{ id: string, title: string, children?: Children }} props */
export const Card = ({ id, title, children }) => html`
  <section class="card pad" aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    ${children}
  </section>
`

/** @param {{ name: string, children?: Children }} props */
export const Fact = ({ name, children }) => html`
  <div>
    <dt>${name}</dt>
    <dd>${children}</dd>
  </div>
`

/** Where there is nothing to show. @param {{ title: string, children?: Children, action?: Children }} props */
export const Empty = ({ title, children, action }) => html`
  <div class="empty">
    <h2>${title}</h2>
    <p>${children}</p>
    ${action}
  </div>
`

/** A page for what does not exist. @param {{ title: string, children?: Children }} props */
export const NotFound = ({ title, children }) => html`
  <div class="empty">
    <h1 tabindex="-1">${title}</h1>
    <p>${children}</p>
    <a class="button" href="#/leads">See your leads</a>
  </div>
`

/**
 * What happened and what to try.
 *
 * @param {{ error: Error | undefined, again?: () => void }} props `again`: tries again at once, where the console also does by itself
 */
export function Failure({ error, again }) {
  if (error === undefined) return null
  return html`
    <div class="failure" role="alert">
      <p>${explain(error, again !== undefined)}</p>
      ${again && html`<button type="button" onClick=${again}>Try again</button>`}
    </div>
  `
}

/** @param {Error} error @param {boolean} isRepeated whether the console tries again by itself */
function explain(error, isRepeated) {
  if (!(error instanceof ApiFailure)) return `${error.message} Reload the page. If it happens again, tell us.`
  const { status, message, requestId } = error
  if (status === 0 || status === 503) {
    const what = status === 0 ? 'The API did not answer' : 'The service is temporarily unavailable'
    return `${what}: ${isRepeated ? 'the console keeps trying' : 'try again in a few seconds'}.`
  }
  // other messages say what to do
  return status < 500
    ? message
    : `${message} Try again. If it happens again, tell us the request id ${requestId ?? ''}.`
}

/** What a view shows until it has its data, and what went wrong. @param {{ of: { data: unknown, error: Error | undefined, reload: () => void } }} props */
export const Pending = ({ of: { data, error, reload } }) => html`
  <${Failure} error=${error} again=${reload} />
  ${data === undefined && error === undefined && html`<p class="loading" role="status">Loading …</p>`}
`

/** The result of an action, read out. @param {{ isChange?: boolean, children?: Children }} props */
export const Done = ({ isChange = true, children }) =>
  html`<p class=${isChange ? 'good' : 'dim'} role="status">${children}</p>`

/**
 * Asks for confirmation in a modal dialog. When it closes, the focus returns to where it was.
 *
 * @param {{ title: string, text: Children, keep: string, onKeep: () => void, use: string, onUse: () => void }} props
 */
export function Question({ title, text, keep, onKeep, use, onUse }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null))
  useEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    return () => shown?.close()
  }, [])
  return html`
    <dialog
      ref=${dialog}
      class="card pad"
      role="alertdialog"
      aria-labelledby="question"
      aria-describedby="question-text"
      onCancel=${onKeep}
    >
      <h2 id="question">${title}</h2>
      <p id="question-text">${text}</p>
      <div class="actions">
        <button type="button" autofocus onClick=${onKeep}>${keep}</button>
        <button type="button" class="danger" onClick=${onUse}>${use}</button>
      </div>
    </dialog>
  `
}

/**
 * Runs one action at a time, and keeps its result. Meanwhile its buttons are `aria-disabled`: a `disabled` button would
 * lose the focus.
 *
 * @template T
 * @param {Error} [initial] an error from before
 */
export function useAction(initial) {
  const [state, setState] = useState(
    /** @type {{ busy?: string, error?: Error | undefined, done?: T }} */ ({ error: initial }),
  )
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
  return { ...state, run }
}
