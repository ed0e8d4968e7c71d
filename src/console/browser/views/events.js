import { html, useContext, useState } from '../preact.js'
import { grouped, upcoming } from '../lead-steps.js'
import { Ahead, useNow } from '../parts.js'
import { link } from '../route.js'
import { distance, parseTime } from '../time.js'
import { Utc } from '../utc.js'
import { counted, meaningOf, words } from '../words.js'
import { EventRow } from './event-row.js'

/** @import { LeadData, Endpoint, Step, Upcoming } from '../types.js' */

const MOST_SHOWN = 50

/**
 * A lead's events with their webhooks, in the order in which one looks for them: what comes next, what is not
 * delivered, and what was.
 *
 * @param {{ data: LeadData, chosen: string | null }} props
 */
export function Events({ data, chosen }) {
  const [isWhole, showAll] = useState(chosen !== null)
  const { open, past } = grouped(data.steps)
  const shown = isWhole ? past : past.slice(0, MOST_SHOWN)
  const row = (/** @type {Step} */ step) =>
    html`<${EventRow}
      key=${step.delivery?.event_id ?? `event-${data.steps.indexOf(step)}`}
      step=${step}
      waiting=${waitingFor(step, data.steps)}
      isChosen=${step.delivery !== undefined && step.delivery.event_id === chosen}
    />`
  const next = upcoming(data)
  return html`
    <section aria-labelledby="events">
      <div class="section-head">
        <h2 id="events">Events and webhooks</h2>
        <span class="dim">${counted(data.steps.length, 'event')}</span>
      </div>
      ${data.pausedEndpoint !== null && html`<${Held} endpoint=${data.pausedEndpoint} />`}
      <div class="card table events">
        <table>
          <thead>
            <tr>
              <th scope="col" class="number"><abbr title="Number of the webhook">#</abbr></th>
              <th scope="col">Event</th>
              <th scope="col" class="wide-only when">Recorded <small>lead’s clock, UTC</small></th>
              <th scope="col" class="state">Webhook</th>
              <th scope="col" class="wide-only answer">Answer</th>
            </tr>
          </thead>
          ${next.length > 0 && html`<${Group} key="next" name="Waits for" />`}
          ${next.map((due) => html`<${NextRow} key=${`next-${due.name}`} due=${due} />`)}
          ${[
            open.length > 0 && html`<${Group} key="open" name="Not delivered" />`,
            ...open.map(row),
            past.length > 0 && html`<${Group} key="past" name="Done" more="newest first" />`,
            ...shown.map(row),
          ]}
        </table>
      </div>
      ${
        shown.length < past.length &&
        html`<nav class="pages" aria-label="Events">
          <button type="button" onClick=${() => showAll(true)}>Show all ${past.length}</button>
        </nav>`
      }
    </section>
  `
}

/** Why webhooks are held; the reason continues after "because". @param {{ endpoint: Endpoint }} props */
const Held = ({ endpoint: { url, reason } }) => html`
  <p class="note">
    Held: ${url === null ? 'you have no endpoint yet' : `your endpoint is paused, because ${reason}`}.${' '}
    <a href=${link('endpoint')}>${url === null ? 'Set one up' : 'See your endpoint'}</a>
  </p>
`

/** How many webhooks wait for that of a step. @param {Step} step @param {Step[]} steps */
const waitingFor = ({ delivery: one }, steps) =>
  steps.filter(({ delivery }) => one !== undefined && delivery?.waits_for?.event_id === one.event_id).length

/** @param {{ name: string, more?: string }} props */
const Group = ({ name, more }) => html`
  <tbody class="group">
    <tr>
      <th scope="rowgroup" colspan="5">${name}${more && html` <small>${more}</small>`}</th>
    </tr>
  </tbody>
`

/** @param {{ due: Upcoming }} props */
function NextRow({ due: { name, at, isByClock } }) {
  const now = useNow() + useContext(Ahead)
  const away = at === null ? '' : ` ${distance(parseTime(at), now)}`
  return html`
    <tbody class="coming">
      <tr>
        <td class="number"></td>
        <td>
          <span class="event-name" title=${meaningOf(name)}
            >${name === 'end' ? 'Lead is closed' : words(name)}</span
          >
          ${at !== null && html`<span class="narrow-only dim"><${Utc} at=${at} zone /></span>`}
        </td>
        <td class="wide-only">
          ${at === null ? html`<span class="dim">no date</span>` : html`<${Utc} at=${at} />`}
        </td>
        <td colspan="2">${isByClock ? `Due${away}` : 'Up to the borrower'}</td>
      </tr>
    </tbody>
  `
}
