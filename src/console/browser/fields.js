import { html, useEffect, useRef, useState } from './preact.js'
import { ApiFailure } from './api.js'
import { Failure } from './parts.js'

/** @import { FieldProblem } from './types.js' */
/** @typedef {{ name: string, label: string, type: 'text' | 'email' | 'tel' | 'url' | 'number' | 'password' | 'area', isWhole?: boolean, hint?: string, placeholder?: string, options?: string[], isFocused?: boolean }} FormField `isFocused`: as the page opens */

/**
 * What is wrong with which field, if the form has all of them.
 *
 * @param {Error | undefined} error
 * @param {FormField[]} fields of the form
 * @param {(path: string) => string} [nameOf] the form's name of a field of the body
 * @returns {FieldProblem[]}
 */
export function problemsOf(error, fields, nameOf = (path) => path) {
  if (!(error instanceof ApiFailure)) return []
  const named = error.fields.map(({ field, problem }) => ({ field: nameOf(field), problem }))
  return named.every(({ field }) => fields.some(({ name }) => name === field)) ? named : []
}

/** All that is wrong with a field. @param {FieldProblem[]} problems @param {string} name */
export const problemOf = (problems, name) =>
  problems
    .filter(({ field }) => field === name)
    .map(({ problem }) => problem)
    .join('; ') || undefined

/**
 * What a form with several fields holds, as typed, by their names.
 *
 * @param {Record<string, string> | (() => Record<string, string>)} initial
 */
export function useValues(initial) {
  const [values, setValues] = useState(initial)
  const change = (/** @type {InputEvent} */ event) => {
    const { name, value } = /** @type {HTMLInputElement} */ (event.currentTarget)
    setValues((/** @type {Record<string, string>} */ previous) => ({ ...previous, [name]: value }))
  }
  return { values, setValues, change }
}

/** The form in which the first wrong field gets the focus. @param {unknown} problem changes with what is wrong */
export function useWrongField(problem) {
  const form = useRef(/** @type {HTMLFormElement | null} */ (null))
  useEffect(() => {
    const wrong = form.current?.querySelector('[aria-invalid=true]')
    if (!(wrong instanceof HTMLElement)) return
    wrong.closest('details')?.setAttribute('open', '')
    wrong.focus()
  }, [problem])
  return form
}

/**
 * A field with what is wrong with it.
 *
 * @param {{ field: FormField, value: string, problem: string | undefined, isAlone?: boolean, onInput: (event: InputEvent) => void, onChange?: (event: Event) => void }} props
 *   `isAlone`: nothing else says that something is wrong, so that this is read out
 */
export function Field({ field, value, problem, isAlone = false, onInput, onChange }) {
  const { name, label, type, isWhole, hint, placeholder, options, isFocused } = field
  const described = [problem && `${name}-problem`, hint && `${name}-hint`].filter(Boolean).join(' ')
  const shared = {
    id: name,
    name,
    value,
    placeholder,
    onInput,
    onChange,
    autocomplete: 'off',
    autofocus: isFocused,
    'aria-invalid': problem !== undefined,
    'aria-describedby': described || undefined,
  }
  return html`
    <div class=${isWhole ? 'field whole' : 'field'}>
      <label for=${name}><span>${label}</span></label>
      ${
        type === 'area'
          ? html`<textarea ...${shared} rows="2"></textarea>`
          : html`<input
              ...${shared}
              type=${type}
              min=${type === 'number' ? 0 : undefined}
              list=${options && `${name}-list`}
            />`
      }
      ${options && html`<datalist id=${`${name}-list`}>${options.map((option) => html`<option value=${option} />`)}</datalist>`}
      ${problem && html`<p class="hint-line" id=${`${name}-problem`} role=${isAlone ? 'alert' : undefined}>${problem}</p>`}
      ${hint && html`<p class="hint" id=${`${name}-hint`}>${hint}</p>`}
    </div>
  `
}

/** @param {{ fields: FormField[], values: Record<string, string>, problems: FieldProblem[], onInput: (event: InputEvent) => void }} props */
export const Fields = ({ fields, values, problems, onInput }) => html`
  <div class="grid-form">
    ${fields.map(
      (field) =>
        html`<${Field}
          key=${field.name}
          field=${field}
          value=${values[field.name] ?? ''}
          problem=${problemOf(problems, field.name)}
          onInput=${onInput}
        />`,
    )}
  </div>
`

/**
 * Why a form with several fields was refused: which of them are wrong, or what else is.
 *
 * @param {{ what: string, error: Error | undefined, problems: FieldProblem[], fields: FormField[] }} props `what` was not done
 */
export function Refusal({ what, error, problems, fields }) {
  if (problems.length === 0) return html`<${Failure} error=${error} />`
  const wrong = fields.filter(({ name }) => problemOf(problems, name) !== undefined)
  const labels = wrong.map(({ label }) => `“${label.replace(/ \(.*/, '')}”`)
  return html`<p class="bad-line" role="alert">${what}. Change ${labels.join(', ')}.</p>`
}
