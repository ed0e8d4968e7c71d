import { html, useEffect, useRef } from './preact.js'
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
