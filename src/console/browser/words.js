import { milestones } from './service.js'

/** `contract_signed` → `Contract signed`. The reader of the console is the partner. @param {string} name */
export function words(name) {
  if (name === 'partner_lead_id') return 'Your lead id'
  const text = name.replaceAll(/[._]/g, ' ').replace('fico', 'FICO').replace('transunion', 'TransUnion')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** What a state is called, and how it looks. @type {Record<string, { text: string, tone: 'good' | 'busy' | 'bad' | 'quiet' | 'accent' }>} */
const states = {
  // deliveries
  pending: { text: 'Pending', tone: 'busy' },
  retrying: { text: 'Retrying', tone: 'bad' },
  held: { text: 'Held', tone: 'busy' },
  delivered: { text: 'Delivered', tone: 'good' },
  given_up: { text: 'Given up', tone: 'bad' },
  canceled: { text: 'Canceled', tone: 'quiet' },
  // webhooks of a lead
  ok: { text: 'Delivered', tone: 'good' },
  sending: { text: 'Sending', tone: 'busy' },
  failing: { text: 'Failing', tone: 'bad' },
  // endpoints
  active: { text: 'Active', tone: 'good' },
  paused: { text: 'Paused', tone: 'busy' },
  // certifications and tests
  running: { text: 'Running', tone: 'busy' },
  passed: { text: 'Passed', tone: 'good' },
  accepted: { text: 'Accepted', tone: 'good' },
  failed: { text: 'Failed', tone: 'bad' },
  not_judged: { text: 'Not judged', tone: 'quiet' },
  // leads
  closed: { text: 'Closed', tone: 'quiet' },
  mortgage_ready: { text: 'Mortgage ready', tone: 'good' },
}

/** @param {string} state */
export const stateOf = (state) => states[state] ?? { text: words(state), tone: 'accent' }

/** The steps of the journey in their order: what can be a lead's status. */
export const journey = milestones.filter(({ status }) => status)

/** @param {string} name */
export const meaningOf = (name) => milestones.find((milestone) => milestone.name === name)?.meaning ?? ''

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export const counted = (count, one, many = `${one}s`) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`
