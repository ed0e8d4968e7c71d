import { html, useState } from '../preact.js'
import { Select } from '../inputs.js'
import { Done } from '../parts.js'
import { milestones } from '../service.js'
import { styled } from '../styled.js'
import { journey, words } from '../words.js'
import { Actions } from './actions.js'
import { Clock } from './clock.js'
import { Close } from './close.js'
import { Scenarios } from './scenarios.js'

/** @import { LeadData } from '../types.js' */

await styled('forms.css')

/** @param {{ data: LeadData }} props */
export const Act = ({ data }) =>
  data.closing === null
    ? html`
        <${Milestones} data=${data} />
        <${Clock} data=${data} />
        <h3>Run a scenario</h3>
        <${Scenarios} id=${data.lead.lead_id} />
        <${Close} id=${data.lead.lead_id} />
      `
    : html`<p class="dim">
        This lead is closed: no more milestones are recorded, and its clock has stopped. You can still resend
        its webhooks.
      </p>`

/**
 * What makes sense next: the following step, and again the last one if it can happen more than once.
 *
 * @param {string} status
 * @returns {string[]}
 */
function likelyNext(status) {
  const reached = journey.findIndex(({ name }) => name === status)
  const following = journey.slice(reached + 1, reached + 2)
  const repeated = journey[reached]?.once === false ? journey.slice(reached, reached + 1) : []
  return [...following, ...repeated].map(({ name }) => name)
}

/** What else can happen: a milestone that is there already cannot, if it happens only once. @param {LeadData} data @param {string[]} likely */
function otherMilestones({ steps }, likely) {
  const recorded = new Set(steps.map(({ event_name: name }) => name))
  return milestones
    .filter(({ name, once }) => name !== 'lead_received' && !(once && recorded.has(name)))
    .map(({ name }) => name)
    .filter((name) => !likely.includes(name))
}

/** @param {{ data: LeadData }} props */
function Milestones({ data }) {
  const likely = likelyNext(data.lead.status)
  const others = otherMilestones(data, likely)
  const [chosen, choose] = useState('')
  const other = others.includes(chosen) ? chosen : others[0]
  const simulation = (/** @type {string} */ name, label = words(name)) => ({
    label,
    path: '/sandbox/simulate-event',
    body: { lead_id: data.lead.lead_id, event_name: name },
  })
  return html`
    <h3>Simulate a milestone</h3>
    <${Actions}
      actions=${[
        ...likely.map((name) => simulation(name)),
        ...(other === undefined ? [] : [simulation(other, `Simulate “${words(other)}”`)]),
      ]}
      tell=${tellEvents}
    >
      ${
        other !== undefined &&
        html`<${Select}
          label="Any other milestone"
          value=${other}
          options=${others.map((name) => [name, words(name)])}
          onValue=${choose}
        />`
      }
    <//>
  `
}

/** @param {import('../types.js').Answer<'/sandbox/simulate-event'>} answer */
const tellEvents = ({ data: { events } }) => html`
  <${Done} isChange=${events.some(({ recorded }) => recorded)}>
    ${events
      .map(
        ({ event_name: name, recorded }) =>
          `${words(name)} ${recorded ? 'is recorded.' : 'was already recorded.'}`,
      )
      .join(' ')}
  <//>
`
