import { html, useState } from '../preact.js'
import { call, offers } from '../api.js'
import { Curl, Failure, useAction } from '../parts.js'
import { go, link } from '../route.js'
import { Scenarios } from './scenarios.js'

const firstNames = ['Ada', 'Grace', 'Alan', 'Katherine', 'Edsger', 'Barbara', 'Tim', 'Radia']
const lastNames = ['Miller', 'Nguyen', 'Garcia', 'Okafor', 'Schmidt', 'Rossi', 'Haddad', 'Kim']

/** @template T @param {T[]} list @returns {T} */
const oneOf = (list) => /** @type {T} */ (list[Math.floor(Math.random() * list.length)])

/** A borrower who does not exist: example.com and 555-01xx belong to nobody. */
function madeUp() {
  const first = oneOf(firstNames)
  const last = oneOf(lastNames)
  const number = Math.floor(Math.random() * 9000) + 1000
  return {
    first_name: first,
    last_name: last,
    email: `${first}.${last}@example.com`.toLowerCase(),
    phone: `+1 555-01${String(number % 100).padStart(2, '0')}`,
    partner_lead_id: `LOAN-${number}`,
  }
}

/** @type {[string, string, string, string][]} name, label, type and what the browser may fill in */
const fields = [
  ['first_name', 'First name', 'text', 'off'],
  ['last_name', 'Last name', 'text', 'off'],
  ['email', 'Email', 'email', 'off'],
  ['phone', 'Phone', 'tel', 'off'],
  ['partner_lead_id', 'Your lead id (optional)', 'text', 'off'],
]

export function NewLeadView() {
  const [values, setValues] = useState(/** @type {() => Record<string, string>} */ (madeUp))
  const { busy, error, run } = useAction()
  const body = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void run('create', async () => {
      const headers = { 'idempotency-key': crypto.randomUUID() }
      const { lead_id: id } = await call('/create-lead', body, { headers })
      go(link(`leads/${id}`))
    })
  }
  const change = (/** @type {InputEvent} */ event) => {
    const { name, value } = /** @type {HTMLInputElement} */ (event.currentTarget)
    setValues((/** @type {Record<string, string>} */ previous) => ({ ...previous, [name]: value }))
  }
  return html`
    <p class="crumb"><a href=${link('leads')}>Leads</a></p>
    <div class="head"><h1 tabindex="-1">New lead</h1></div>
    <form class="card pad narrow" onSubmit=${submit} novalidate>
      <p class="dim">This borrower is made up. Change what you like.</p>
      <div class="grid-form">
        ${fields.map(
          ([name, label, type, autocomplete]) => html`
            <label key=${name}
              ><span>${label}</span>
              <input
                name=${name}
                type=${type}
                autocomplete=${autocomplete}
                value=${values[name]}
                onInput=${change}
              />
            </label>
          `,
        )}
      </div>
      <${Failure} error=${error} />
      <div class="actions">
        <button class="primary" type="submit" aria-disabled=${busy !== undefined}>
          ${busy === undefined ? 'Create lead' : 'Creating …'}
        </button>
        <button class="quiet" type="button" onClick=${() => setValues(madeUp())}>Another borrower</button>
        <${Curl} path="/create-lead" body=${body} />
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
