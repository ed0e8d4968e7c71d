import { html, useState } from '../preact.js'
import { call, offers } from '../api.js'
import { touch } from '../live.js'
import { Curl, Done, Failure, Time, useAction } from '../parts.js'
import { milestones } from '../service.js'
import { counted, journey, words } from '../words.js'
import { Scenarios } from './scenarios.js'

/** @typedef {{ label: string, path: string, body: object }} Action */

/** @param {{ data: import('../lead-data.js').LeadData }} props */
export function Act({ data: { lead, closedAt } }) {
  return html`
    <section class="card pad" aria-labelledby="act">
      <h2 id="act">Make something happen</h2>
      ${closedAt === null ? html`<${Possible} lead=${lead} />` : html`<${Closed} />`}
    </section>
  `
}

const Closed = () =>
  html`<p class="dim">
    This lead is closed: no more milestones are recorded, and its clock has stopped. You can still resend its
    webhooks.
  </p>`

/** @param {{ lead: Record<string, any> }} props */
function Possible({ lead }) {
  return html`
    ${offers('/sandbox/simulate-event') && html`<${Milestones} lead=${lead} />`}
    ${offers('/sandbox/advance-clock') && html`<${Clock} id=${lead.lead_id} />`}
    ${
      offers('/sandbox/run-scenario') &&
      html`<h3>Run a scenario</h3>
        <${Scenarios} id=${lead.lead_id} />`
    }
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

/** @param {string} name @param {number} id @returns {Action} */
const simulation = (name, id) => ({
  label: words(name),
  path: '/sandbox/simulate-event',
  body: { lead_id: id, event_name: name },
})

/** @param {{ lead: Record<string, any> }} props */
function Milestones({ lead }) {
  const likely = likelyNext(lead.status)
  const others = milestones.filter(({ name }) => name !== 'lead_received' && !likely.includes(name))
  const [chosen, choose] = useState(others[0]?.name ?? '')
  const name = others.some((other) => other.name === chosen) ? chosen : (others[0]?.name ?? '')
  return html`
    <${Actions} actions=${likely.map((next) => simulation(next, lead.lead_id))} describe=${describeEvents}>
      <label class="menu"
        ><span>Any other milestone</span>
        <select
          value=${name}
          onChange=${(/** @type {Event} */ event) => choose(/** @type {HTMLSelectElement} */ (event.currentTarget).value)}
        >
          ${others.map((other) => html`<option value=${other.name}>${words(other.name)}</option>`)}
        </select>
      </label>
    <//>
    <${Actions}
      actions=${[{ ...simulation(name, lead.lead_id), label: `Simulate “${words(name)}”` }]}
      describe=${describeEvents}
    />
  `
}

/** @param {any} data of simulate-event */
const describeEvents = ({ events }) =>
  events
    .map(
      (/** @type {any} */ event) =>
        `${words(event.event_name)} ${event.recorded ? 'is recorded.' : 'was already recorded.'}`,
    )
    .join(' ')

/** @param {{ id: number }} props */
function Clock({ id }) {
  const path = '/sandbox/advance-clock'
  /** @type {Action[]} */
  const actions = [
    { label: 'To the next score update', path, body: { lead_id: id, to: 'next_score_update' } },
    { label: 'To the next retry', path, body: { lead_id: id, to: 'next_retry' } },
    { label: 'By 45 days', path, body: { lead_id: id, days: 45 } },
    { label: 'To the end', path, body: { lead_id: id, to: 'end' } },
  ]
  return html`
    <h3>Advance its clock</h3>
    <${Actions} actions=${actions} describe=${describeAdvance} />
  `
}

/** @param {any} data of advance-clock */
function describeAdvance({ now, status, happened, stopped }) {
  const count = (/** @type {string} */ kind) =>
    happened.filter((/** @type {any} */ { what }) => what === kind).length
  const kinds = [
    count('event') > 0 && counted(count('event'), 'event'),
    count('webhook') > 0 && counted(count('webhook'), 'webhook attempt'),
    count('end') > 0 && 'lead closed',
  ]
  const what = kinds.filter(Boolean).join(', ') || 'Nothing was due'
  const rest = status === 'advancing' ? ' The rest continues in the background.' : ''
  const why = stopped ? ` It stopped: ${words(stopped).toLowerCase()}.` : ''
  return html`${what}. The lead’s clock shows <${Time} at=${now} as="full" />.${rest}${why}`
}

/**
 * Buttons, each with the call that it makes. A button keeps the focus when the next milestone takes its place.
 *
 * @param {{ actions: Action[], describe: (data: any) => any, children?: import('preact').ComponentChildren }} props
 */
function Actions({ actions, describe, children }) {
  const { busy, error, done, run } = useAction()
  const act = (/** @type {Action} */ { label, path, body }) =>
    run(label, async () => {
      const { data } = await call(path, body, { headers: { 'idempotency-key': crypto.randomUUID() } })
      touch()
      return describe(data)
    })
  return html`
    ${actions.map(
      (action, index) => html`
        <div class="actions" key=${index}>
          <button type="button" aria-disabled=${busy !== undefined} onClick=${() => act(action)}>
            ${busy === action.label ? 'Working …' : action.label}
          </button>
          <${Curl} path=${action.path} body=${action.body} />
        </div>
      `,
    )}
    ${done && html`<${Done}>${done}<//>`}
    <${Failure} error=${error} />
    ${children}
  `
}
