import { html } from '../preact.js'

/** @typedef {{ name: string, label: string, type: 'text' | 'email' | 'tel' | 'area', hint?: string, options?: string[] }} LeadField */

/** The header, as a field of the form. */
export const KEY = 'idempotency-key'

/** All that create-lead takes. @type {LeadField[]} */
export const fields = [
  { name: 'first_name', label: 'First name', type: 'text' },
  { name: 'last_name', label: 'Last name', type: 'text' },
  { name: 'email', label: 'Email', type: 'email' },
  { name: 'phone', label: 'Phone', type: 'tel' },
  { name: 'partner_lead_id', label: 'Your lead id (optional)', type: 'text' },
  { name: 'loan_officer_id', label: 'Loan officer id (optional)', type: 'text' },
  {
    name: 'fico_range',
    label: 'FICO range (optional)',
    type: 'text',
    options: ['500-549', '550-579', '580-619', '620-659'],
  },
  {
    name: 'notes',
    label: 'Notes (optional)',
    type: 'area',
    hint: 'Why the application was declined. Only export-lead returns them.',
  },
  {
    name: KEY,
    label: 'Idempotency-Key (optional header)',
    type: 'text',
    hint: 'The same key with the same fields creates no second lead, for 24 hours.',
  },
]

/** @param {string} field */
export const nameOf = (field) =>
  fields.find(({ name }) => name === field)?.label.replace(/ \(.*/, '') ?? field

/**
 * A field with what is wrong with it.
 *
 * @param {{ field: LeadField, value: string, problem: string | undefined, onInput: (event: InputEvent) => void }} props
 */
export function Field({ field: { name, label, type, hint, options }, value, problem, onInput }) {
  const described = [problem && `${name}-problem`, hint && `${name}-hint`].filter(Boolean).join(' ')
  const shared = {
    id: name,
    name,
    value,
    onInput,
    autocomplete: 'off',
    'aria-invalid': problem !== undefined,
    'aria-describedby': described || undefined,
  }
  return html`
    <div class=${type === 'area' || name === KEY ? 'field whole' : 'field'}>
      <label for=${name}><span>${label}</span></label>
      ${
        type === 'area'
          ? html`<textarea ...${shared} rows="2"></textarea>`
          : html`<input ...${shared} type=${type} list=${options && `${name}-list`} />`
      }
      ${options && html`<datalist id=${`${name}-list`}>${options.map((option) => html`<option value=${option} />`)}</datalist>`}
      ${problem && html`<p class="hint-line" id=${`${name}-problem`}>${problem}</p>`}
      ${hint && html`<p class="hint" id=${`${name}-hint`}>${hint}</p>`}
    </div>
  `
}

const firstNames = ['Ada', 'Grace', 'Alan', 'Katherine', 'Edsger', 'Barbara', 'Tim', 'Radia']
const lastNames = ['Miller', 'Nguyen', 'Garcia', 'Okafor', 'Schmidt', 'Rossi', 'Haddad', 'Kim']

/** @template T @param {T[]} list @returns {T} */
const oneOf = (list) => /** @type {T} */ (list[Math.floor(Math.random() * list.length)])

/** A borrower who does not exist, example.com and 555-01xx belong to nobody; and a key for this lead alone. */
export function madeUp() {
  const first = oneOf(firstNames)
  const last = oneOf(lastNames)
  const number = Math.floor(Math.random() * 9000) + 1000
  return {
    first_name: first,
    last_name: last,
    email: `${first}.${last}@example.com`.toLowerCase(),
    phone: `+1 555-01${String(number % 100).padStart(2, '0')}`,
    partner_lead_id: `LOAN-${number}`,
    loan_officer_id: '',
    fico_range: '',
    notes: '',
    [KEY]: crypto.randomUUID(),
  }
}
