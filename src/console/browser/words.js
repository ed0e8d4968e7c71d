import { milestones } from './service.js'

/** `contract_signed` → `Contract signed`. The reader of the console is the partner. @param {string} name */
export function words(name) {
  if (name === 'partner_lead_id') return 'Your lead id'
  const text = name.replaceAll(/[._]/g, ' ').replace('fico', 'FICO').replace('transunion', 'TransUnion')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The states of each tone; all others have the accent's. @type {Record<string, string[]>} */
const tones = {
  good: ['delivered', 'ok', 'active', 'passed', 'accepted', 'mortgage_ready'],
  busy: ['pending', 'held', 'sending', 'paused', 'running'],
  bad: ['retrying', 'given_up', 'failing', 'failed'],
  dim: ['canceled', 'not_judged', 'closed'],
}

/** What a state is called, and how it looks. @param {string} state */
export function stateOf(state) {
  const tone = Object.keys(tones).find((name) => tones[name]?.includes(state)) ?? 'accent'
  return { text: state === 'ok' ? 'All delivered' : words(state), tone }
}

/** The steps of the journey in their order: what can be a lead's status. */
export const journey = milestones.filter(({ status }) => status)

/** @param {number} count @param {string} one */
export const counted = (count, one) => `${count.toLocaleString('en')} ${count === 1 ? one : `${one}s`}`
