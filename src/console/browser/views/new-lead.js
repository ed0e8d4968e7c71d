import { html, useState } from '../preact.js'
import { call } from '../api.js'
import { Form } from '../forms.js'
import { Card } from '../parts.js'
import { link } from '../route.js'
import { Scenarios } from './act.js'

const KEY = 'Idempotency-Key'

/** All that create-lead takes. @type {import('../forms.js').FormField[]} */
const fields = [
  { name: 'first_name', label: 'First name' },
  { name: 'last_name', label: 'Last name' },
  { name: 'email', label: 'Email', type: 'email' },
  { name: 'phone', label: 'Phone', type: 'tel' },
  { name: 'partner_lead_id', label: 'Your lead id (optional)' },
  { name: 'loan_officer_id', label: 'Loan officer id (optional)' },
  { name: 'fico_range', label: 'FICO range (optional)', placeholder: '580-619' },
  {
    name: 'notes',
    label: 'Notes (optional)',
    type: 'area',
    isWhole: true,
    hint: 'Why the application was declined. Only export-lead returns them.',
  },
  {
    name: KEY,
    label: 'Idempotency-Key (optional header)',
    isWhole: true,
    hint: 'The same key with the same fields creates no second lead, for 24 hours.',
  },
]

/** A borrower who does not exist: example.com and 555-01xx belong to nobody. @returns {Record<string, string>} */
function madeUp() {
  const number = Math.floor(Math.random() * 9000) + 1000
  return {
    first_name: 'Ada',
    last_name: 'Miller',
    email: `ada.miller.${number}@example.com`,
    phone: `+1 555-01${String(number % 100).padStart(2, '0')}`,
    partner_lead_id: `LOAN-${number}`,
    [KEY]: crypto.randomUUID(),
  }
}

/** @param {Record<string, string>} values */
function toCall(values) {
  const { [KEY]: key, ...body } = Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== ''),
  )
  return { path: '/create-lead', body, ...(key !== undefined && { headers: { [KEY]: key } }) }
}

const create = async (/** @type {Record<string, string>} */ values) => {
  const { body, headers } = toCall(values)
  const { lead_id: id } = await call('/create-lead', body, { headers })
  location.hash = link(`leads/${id}`)
  return null
}

export function NewLeadView() {
  const [initial, setInitial] = useState(madeUp)
  return html`
    <p class="crumb"><a href=${link('leads')}>Leads</a></p>
    <div class="head"><h1 tabindex="-1">New lead</h1></div>
    <div class="stack narrow">
      <div class="card pad">
        <${Form}
          key=${initial[KEY]}
          fields=${fields}
          initial=${initial}
          label="Create lead"
          send=${create}
          toCurl=${toCall}
          isFirst
          buttons=${html`<button class="quiet" type="button" onClick=${() => setInitial(madeUp())}>
            Another borrower
          </button>`}
        >
          <p class="dim">This borrower is made up. Change what you like.</p>
        <//>
      </div>
      <${Card} id="scenarios" title="Or run a whole journey">
        <p class="dim">A new lead goes through it in seconds, on its own clock, with real webhooks.</p>
        <${Scenarios} />
      <//>
    </div>
  `
}
