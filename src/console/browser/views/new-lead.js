import { html } from '../preact.js'
import { ApiFailure, call } from '../api.js'
import { Fields, problemsOf, Refusal, useValues, useWrongField } from '../fields.js'
import { styled } from '../styled.js'
import { useAction } from '../parts.js'
import { go, link } from '../route.js'
import { Curls } from './curls.js'
import { fields, KEY, madeUp } from './lead-fields.js'
import { Scenarios } from './scenarios.js'

await styled('forms.css')

export function NewLeadView() {
  const { values, setValues, change } = useValues(madeUp)
  const { busy, error, run, clear } = useAction()
  const form = useWrongField(error)
  const { [KEY]: key = '', ...lead } = values
  const body = Object.fromEntries(Object.entries(lead).filter(([, value]) => value !== ''))
  const headers = key === '' ? undefined : { [KEY]: key }
  const problems = problemsIn(error)
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void run('create', async () => {
      if (!/^[!-~]*$/.test(key)) throw unsendable()
      const { lead_id: id } = await call('/create-lead', body, headers && { headers })
      go(link(`leads/${id}`))
    })
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
      <${Fields} fields=${fields} values=${values} problems=${problems} onInput=${change} />
      <${Refusal} what="Not created" error=${error} problems=${problems} fields=${fields} />
      <div class="actions">
        <button class="primary" type="submit" aria-disabled=${busy !== undefined}>
          ${busy === undefined ? 'Create lead' : 'Creating …'}
        </button>
        <button class="quiet" type="button" onClick=${another}>Another borrower</button>
        <${Curls} calls=${[{ path: '/create-lead', body, headers }]} />
      </div>
    </form>
    <section class="card pad narrow after" aria-labelledby="scenario">
      <h2 id="scenario">Or run a whole journey</h2>
      <p class="dim">A new lead goes through it in seconds, on its own clock, with real webhooks.</p>
      <${Scenarios} />
    </section>
  `
}

/** The API would say the same, but no browser sends it: a dash that an editor made longer, for example. */
const unsendable = () =>
  new ApiFailure({
    status: 400,
    code: 'VALIDATION_ERROR',
    message: 'The Idempotency-Key cannot be sent.',
    fields: [{ field: KEY, problem: 'must have 1 to 255 visible ASCII characters' }],
  })

/** The field of the form that the API calls so. @param {string} path */
const nameIn = (path) => (path.toLowerCase() === KEY ? KEY : path)

/** @param {Error | undefined} error */
const problemsIn = (error) =>
  error instanceof ApiFailure && error.code === 'IDEMPOTENCY_CONFLICT'
    ? [{ field: KEY, problem: error.message }]
    : problemsOf(error, fields, nameIn)
