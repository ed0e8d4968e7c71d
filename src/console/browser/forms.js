import { html, useEffect, useRef, useState } from './preact.js'
import { ApiFailure, call } from './api.js'
import { Curls } from './code.js'
import { touchSoon } from './live.js'
import { Failure, Question, useAction } from './parts.js'

/** @typedef {import('preact').ComponentChildren} Children */
/** @typedef {{ name: string, label: string, type?: string, hint?: string, placeholder?: string, isWhole?: boolean, autofocus?: boolean }} FormField `isWhole`: as wide as the form */

/**
 * A field with what is wrong with it.
 *
 * @param {FormField & { value: string, onValue: (value: string) => void, options?: string[][], problem?: string | undefined, isAlone?: boolean }} props
 *   `options`: value and text of each, for a choice. `isAlone`: it is the form's only field, and its problem is read out
 */
export function Field({
  name,
  label,
  type = 'text',
  hint,
  isWhole,
  value,
  onValue,
  options,
  problem,
  isAlone,
  ...attributes
}) {
  const described = [problem && `${name}-problem`, hint && `${name}-hint`].filter(Boolean).join(' ')
  const shared = {
    id: name,
    name,
    value,
    autocomplete: 'off',
    'aria-invalid': problem !== undefined,
    'aria-describedby': described || undefined,
    [options ? 'onChange' : 'onInput']: (/** @type {{ currentTarget: HTMLInputElement }} */ event) =>
      onValue(event.currentTarget.value),
    ...attributes,
  }
  const control = () => {
    if (type === 'area') return html`<textarea ...${shared} rows="2"></textarea>`
    if (options === undefined) return html`<input ...${shared} type=${type} />`
    return html`<select ...${shared}>
      ${options.map(([option, text]) => html`<option value=${option}>${text}</option>`)}
    </select>`
  }
  return html`
    <div class=${isWhole ? 'field whole' : 'field'}>
      <label for=${name}>${label}</label>
      ${control()}
      ${problem && html`<p class="bad hint sentence" id=${`${name}-problem`} role=${isAlone ? 'alert' : undefined}>${problem}</p>`}
      ${hint && html`<p class="hint" id=${`${name}-hint`}>${hint}</p>`}
    </div>
  `
}

/** The problems of a form's fields, by name; empty if one is of no field of the form. @param {Error | undefined} error @param {FormField[]} fields */
function problemsOf(error, fields) {
  /** @type {Map<string, string>} */
  const problems = new Map()
  if (!(error instanceof ApiFailure)) return problems
  if (!error.fields.every(({ field }) => fields.some(({ name }) => name === field))) return problems
  for (const { field, problem } of error.fields)
    problems.set(field, [problems.get(field), problem].filter(Boolean).join('; '))
  return problems
}

/**
 * Fields, and a button that sends them. The first wrong field gets the focus.
 *
 * @param {{ fields: FormField[], initial?: Record<string, string>, label: string, send: (values: Record<string, string>) => Promise<Children>, toCurl?: (values: Record<string, string>) => import('./code.js').ToCurl, refusal?: Error, isFirst?: boolean, buttons?: Children, children?: Children }} props
 *   `send`: what it returns is shown; `refusal`: an error from before; `isFirst`: its button is the page's main one
 */
export function Form({
  fields,
  initial = {},
  label,
  send,
  toCurl,
  refusal,
  isFirst = false,
  buttons,
  children,
}) {
  const [values, setValues] = useState(initial)
  const { busy, error, done, run } = useAction(refusal)
  const form = useRef(/** @type {HTMLFormElement | null} */ (null))
  const problems = problemsOf(error, fields)
  useEffect(() => {
    const wrong = form.current?.querySelector('[aria-invalid=true]')
    if (wrong instanceof HTMLElement) wrong.focus()
  }, [error])
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void run('send', () => send(values))
  }
  const isAlone = fields.length === 1
  const isLacking = isAlone && !isFirst && !values[fields[0]?.name ?? '']
  const wrong = fields
    .filter(({ name }) => problems.has(name))
    .map((one) => `“${one.label.replace(/ \(.*/, '')}”`)
  return html`
    <form ref=${form} onSubmit=${submit} novalidate>
      ${children}
      <div class="grid-form">
        ${fields.map(
          (field) =>
            html`<${Field}
              key=${field.name}
              ...${field}
              value=${values[field.name] ?? ''}
              problem=${problems.get(field.name)}
              isAlone=${isAlone}
              onValue=${(/** @type {string} */ value) => setValues({ ...values, [field.name]: value })}
            />`,
        )}
      </div>
      ${problems.size === 0 && html`<${Failure} error=${error} />`}
      ${problems.size > 0 && !isAlone && html`<p class="bad" role="alert">Not sent. Change ${wrong.join(', ')}.</p>`}
      <div class="actions">
        <button
          type="submit"
          class=${isFirst ? 'primary' : ''}
          disabled=${isLacking}
          aria-disabled=${busy !== undefined}
        >
          ${busy ? 'Working …' : label}
        </button>
        ${buttons} ${toCurl && html`<${Curls} calls=${[toCurl(values)]} />`}
      </div>
      ${done}
    </form>
  `
}

/**
 * @typedef {{ label: string, path: import('./types.js').Path, body?: object, off?: string | undefined, isFirst?: boolean, key?: string, ask?: { title: string, text: string, keep: string, use: string } }} Action
 *   `off`: why it would do nothing; `isFirst`: what to do first; `key`: shared by buttons that replace each other; `ask`:
 *   asks for confirmation
 */

/**
 * Buttons, what came of them, and their calls as curl. A button keeps the focus when another one takes its place.
 *
 * @param {{ actions: Action[], tell?: (answer: any, action: Action) => Children, children?: Children }} props
 *   `tell`: says what the action did; `children`: above the last button, which depends on them
 */
export function Actions({ actions, tell = () => undefined, children }) {
  const { busy, error, done, run } = useAction()
  const [asked, ask] = useState(/** @type {Action | undefined} */ (undefined))
  const act = (/** @type {Action} */ action) => {
    ask(undefined)
    void run(action.label, async () => {
      const headers = { 'idempotency-key': crypto.randomUUID() }
      const answer = await call(action.path, action.body, { headers })
      touchSoon()
      return tell(answer, action)
    })
  }
  const press = (/** @type {Action} */ action) => {
    if (action.off !== undefined) return
    if (action.ask) ask(action)
    else act(action)
  }
  const buttons = actions.map(
    (action, index) => html`
      <div class="actions" key=${action.key ?? index}>
        <button
          type="button"
          class=${action.isFirst ? 'primary' : ''}
          aria-disabled=${busy !== undefined || action.off !== undefined}
          aria-describedby=${action.off && `off-${action.path}-${index}`}
          onClick=${() => press(action)}
        >
          ${busy === action.label ? 'Working …' : action.label}
        </button>
        ${action.off && html`<span class="hint" id=${`off-${action.path}-${index}`}>${action.off}</span>`}
      </div>
    `,
  )
  return html`
    <div class="actions several">
      ${buttons.slice(0, -1)}${children}${buttons.slice(-1)}
      <${Curls} calls=${actions} />
    </div>
    ${asked?.ask && html`<${Question} ...${asked.ask} onKeep=${() => ask(undefined)} onUse=${() => act(asked)} />`}
    ${done}
    <${Failure} error=${error} />
  `
}
