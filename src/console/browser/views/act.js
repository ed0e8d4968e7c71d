import { html, useState } from '../preact.js'
import { offers } from '../api.js'
import { milestones } from '../service.js'
import { styled } from '../styled.js'
import { journey, words } from '../words.js'
import { Actions } from './actions.js'
import { Clock } from './clock.js'
import { Close } from './close.js'
import { Scenarios } from './scenarios.js'

/** @import { LeadData } from '../lead-records.js' */

await styled('forms.css')

/** @param {{ data: LeadData }} props */
export function Act({ data }) {
  return data.closedAt === null ? html`<${Possible} data=${data} />` : html`<${Closed} />`
}

const Closed = () =>
  html`<p class="dim">
    This lead is closed: no more milestones are recorded, and its clock has stopped. You can still resend its
    webhooks.
  </p>`

/** @param {{ data: LeadData }} props */
function Possible({ data }) {
  return html`
    ${offers('/sandbox/simulate-event') && html`<${Milestones} data=${data} />`}
    ${offers('/sandbox/advance-clock') && html`<${Clock} data=${data} />`}
    ${
      offers('/sandbox/run-scenario') &&
      html`<h3>Run a scenario</h3>
        <${Scenarios} id=${data.lead.lead_id} />`
    }
    ${offers('/close-lead') && html`<${Close} id=${data.lead.lead_id} />`}
  `
}

/**
 * What makes sense next: the following step, and again the last one if it can happen more than once.
 *
 * @param {string} status
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
  const id = data.lead.lead_id
  const likely = likelyNext(data.lead.status)
  const others = otherMilestones(data, likely)
  const [chosen, choose] = useState('')
  const other = others.includes(chosen) ? chosen : others[0]
  const simulation = (/** @type {string} */ name, label = words(name)) => ({
    label,
    path: '/sandbox/simulate-event',
    body: { lead_id: id, event_name: name },
  })
  return html`
    <h3>Simulate a milestone</h3>
    <${Actions}
      actions=${[
        ...likely.map((name) => simulation(name)),
        ...(other === undefined ? [] : [simulation(other, `Simulate “${words(other)}”`)]),
      ]}
      describe=${describeEvents}
    >
      ${
        others.length > 0 &&
        html`<label class="menu"
          ><span>Any other milestone</span>
          <select
            value=${other}
            onChange=${(/** @type {Event} */ event) => choose(/** @type {HTMLSelectElement} */ (event.currentTarget).value)}
          >
            ${others.map((name) => html`<option value=${name}>${words(name)}</option>`)}
          </select>
        </label>`
      }
    <//>
  `
}

/** @param {any} data of simulate-event */
const describeEvents = ({ events }) => ({
  isChange: events.some((/** @type {any} */ { recorded }) => recorded),
  text: events
    .map(
      (/** @type {any} */ event) =>
        `${words(event.event_name)} ${event.recorded ? 'is recorded.' : 'was already recorded.'}`,
    )
    .join(' '),
})
