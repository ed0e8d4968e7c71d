import { html, useEffect, useRef, useState } from '../preact.js'
import { ApiFailure, call, offers } from '../api.js'
import { styled } from '../styled.js'
import { Failure, useAction } from '../parts.js'
import { go, link } from '../route.js'
import { Curls } from './curls.js'
import { Field, fields, KEY, madeUp, nameOf } from './lead-fields.js'
import { Scenarios } from './scenarios.js'

/** @typedef {import('../api.js').FieldProblem} FieldProblem */

await styled('forms.css', 'leads.css')

export function NewLeadView() {
  const [values, setValues] = useState(/** @type {() => Record<string, string>} */ (madeUp))
  const { busy, error, run, clear } = useAction()
  const form = useRef(/** @type {HTMLFormElement | null} */ (null))
  const { [KEY]: key = '', ...lead } = values
  const body = Object.fromEntries(Object.entries(lead).filter(([, value]) => value !== ''))
  const headers = key === '' ? undefined : { [KEY]: key }
  const problems = problemsOf(error)
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void run('create', async () => {
      const { lead_id: id } = await call('/create-lead', body, headers && { headers })
      go(link(`leads/${id}`))
    })
  }
  useEffect(() => {
    const wrong = form.current?.querySelector('[aria-invalid=true]')
    if (wrong instanceof HTMLElement) wrong.focus()
  }, [error])
  const change = (/** @type {InputEvent} */ event) => {
    const { name, value } = /** @type {HTMLInputElement} */ (event.currentTarget)
    setValues((/** @type {Record<string, string>} */ previous) => ({ ...previous, [name]: value }))
  }
  const another = () => {
    setValues(madeUp())
    clear()
  }
  return html`
    <p class="crumb"><a href=${link('leads')}>Leads</a></p>
    <div class="head"><h1 tabindex="-1">New lead</h1></div>
    <form class="card pad narrow" ref=${form} onSubmit=${submit} novalidate>
      <p class="dim">This borrower is made up. Change what you like.</p>
      <div class="grid-form">
        ${fields.map(
          (field) =>
            html`<${Field}
              key=${field.name}
              field=${field}
              value=${values[field.name] ?? ''}
              problem=${problemOf(problems, field.name)}
              onInput=${change}
            />`,
        )}
      </div>
      ${
        problems.length > 0
          ? html`<p class="bad-line" role="alert">
              Not created. Change ${[...new Set(problems.map(({ field }) => nameOf(field)))].join(', ')}.
            </p>`
          : html`<${Failure} error=${error} />`
      }
      <div class="actions">
        <button class="primary" type="submit" aria-disabled=${busy !== undefined}>
          ${busy === undefined ? 'Create lead' : 'Creating …'}
        </button>
        <button class="quiet" type="button" onClick=${another}>Another borrower</button>
        <${Curls} calls=${[{ label: 'POST /v1/create-lead', path: '/create-lead', body, headers }]} />
      </div>
    </form>
    ${
      offers('/sandbox/run-scenario') &&
      html`<section class="card pad narrow after" aria-labelledby="scenario">
        <h2 id="scenario">Or run a whole journey</h2>
        <p class="dim">A new lead goes through it in seconds, on its own clock, with real webhooks.</p>
        <${Scenarios} />
      </section>`
    }
  `
}

/** All that is wrong with a field. @param {FieldProblem[]} problems @param {string} name */
const problemOf = (problems, name) =>
  problems
    .filter(({ field }) => field === name)
    .map(({ problem }) => problem)
    .join('; ') || undefined

/**
 * What is wrong with which field, if the form has all of them.
 *
 * @param {Error | undefined} error
 * @returns {FieldProblem[]}
 */
function problemsOf(error) {
  if (!(error instanceof ApiFailure)) return []
  if (error.code === 'IDEMPOTENCY_CONFLICT') return [{ field: KEY, problem: error.message }]
  const known = error.fields.map(({ field, problem }) => ({
    field: field.toLowerCase() === KEY ? KEY : field,
    problem,
  }))
  return known.every(({ field }) => fields.some(({ name }) => name === field)) ? known : []
}
