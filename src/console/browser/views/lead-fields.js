/** The header, as a field of the form. */
export const KEY = 'idempotency-key'

/** All that create-lead takes. @type {import('../fields.js').FormField[]} */
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
    isWhole: true,
    hint: 'Why the application was declined. Only export-lead returns them.',
  },
  {
    name: KEY,
    label: 'Idempotency-Key (optional header)',
    type: 'text',
    isWhole: true,
    hint: 'The same key with the same fields creates no second lead, for 24 hours.',
  },
]

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
