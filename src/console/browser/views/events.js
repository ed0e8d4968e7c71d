import { html, useContext, useEffect, useRef, useState } from '../preact.js'
import { problemOf, shownState, summaryOf } from '../deliveries.js'
import { Badge } from '../parts.js'
import { link } from '../route.js'
import { Ahead, inUtc, isFarAhead, parseTime, Utc } from '../time.js'
import { counted, words } from '../words.js'
import { Detail, Resend } from './webhook.js'

/** @import { Delivery, Step } from '../types.js' */

/**
 * A lead's events with their webhooks, in the order in which one looks for them: first what is not delivered.
 *
 * @param {{ steps: Step[], chosen: string | null }} props `chosen`: the event to open
 */
export function Events({ steps, chosen }) {
  const isOpen = (/** @type {Step} */ { delivery }) =>
    delivery !== undefined && !['delivered', 'canceled'].includes(delivery.state)
  const open = steps.filter(isOpen)
  const past = steps.filter((step) => !isOpen(step)).toReversed()
  const row = (/** @type {Step} */ step) =>
    html`<${EventRow}
      key=${step.delivery?.event_id ?? `event-${steps.indexOf(step)}`}
      step=${step}
      isChosen=${chosen !== null && step.delivery?.event_id === chosen}
    />`
  return html`
    <section aria-labelledby="events">
      <div class="section-head">
        <h2 id="events">Events and webhooks</h2>
        <span class="dim">${counted(steps.length, 'event')}</span>
      </div>
      ${
        open.some(({ delivery }) => delivery?.state === 'held') &&
        html`<p class="note">
          Webhooks are held: your endpoint is paused, or you have none yet.${' '}
          <a href=${link('endpoint')}>See your endpoint</a>
        </p>`
      }
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
          ${[
            open.length > 0 && html`<${Group} key="open" name="Not delivered" />`,
            ...open.map(row),
            past.length > 0 && html`<${Group} key="past" name="Done" more="newest first" />`,
            ...past.map(row),
          ]}
        </table>
      </div>
    </section>
  `
}

/** @param {{ name: string, more?: string }} props */
const Group = ({ name, more }) => html`
  <tbody class="group">
    <tr>
      <th scope="rowgroup" colspan="5">${name}${more && html` <small>${more}</small>`}</th>
    </tr>
  </tbody>
`

/**
 * An event and its webhook as one row. Below it: why the webhook is late, and, once it is opened, all about it.
 *
 * @param {{ step: Step, isChosen: boolean }} props
 */
function EventRow({ step, isChosen }) {
  const { delivery, event_name: name, event_payload: payload, created_at: at } = step
  const [isOpen, setOpen] = useState(isChosen)
  const row = useRef(/** @type {HTMLElement | null} */ (null))
  useEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: 'center' })
  }, [])
  const problem = delivery && problemOf(delivery)
  const id = `detail-${delivery?.event_id}`
  const summary = delivery && summaryOf(delivery)
  return html`
    <tbody ref=${row} class=${problem ? 'event late' : 'event'}>
      <tr>
        <td class="number">${delivery?.sequence}</td>
        <td>
          ${
            delivery === undefined
              ? html`<span class="event-name">${words(name)}</span>`
              : html`<button
                  type="button"
                  class="toggle event-name"
                  aria-expanded=${isOpen}
                  aria-controls=${isOpen ? id : undefined}
                  onClick=${() => setOpen(!isOpen)}
                >
                  ${words(name)}
                </button>`
          }
          <${Gains} payload=${payload} />
          <span class="narrow-only dim"><${Utc} at=${at} zone /></span>
        </td>
        <td class="wide-only"><${Utc} at=${at} /></td>
        <td>
          ${delivery ? html`<${Badge} state=${shownState(delivery)} />` : html`<span class="dim">None</span>`}
          <span class="narrow-only dim">${summary}</span>
        </td>
        <td class="wide-only dim">${summary}</td>
      </tr>
      ${
        delivery &&
        problem &&
        html`<tr class="below-row">
          <td colspan="5"><${Late} delivery=${delivery} problem=${problem} /></td>
        </tr>`
      }
      ${
        isOpen &&
        delivery &&
        html`<tr class="below-row" id=${id}>
          <td colspan="5"><${Detail} step=${step} delivery=${delivery} /></td>
        </tr>`
      }
    </tbody>
  `
}

/** The points of a score update. @param {{ payload: Record<string, any> | null }} props */
function Gains({ payload }) {
  const gains = Object.entries(payload ?? {}).filter(([name]) => name.endsWith('_gain'))
  if (gains.length === 0) return null
  return html`<p class="gains dim">
    ${gains.map(([name, points]) => html`${words(name.replace('_gain', ''))} <b>${signed(points)}</b>${' '}`)}
  </p>`
}

/** @param {number} points */
const signed = (points) => (points > 0 ? `+${points}` : String(points).replace('-', '−'))

/** Why a webhook is late, and when it is tried again. @param {{ delivery: Delivery, problem: string }} props */
const Late = ({ delivery, problem }) => html`
  <div class="why">
    <p class="bad hint sentence">${problem}.</p>
    ${delivery.fault === null && html`<${When} delivery=${delivery} /><${Resend} delivery=${delivery} />`}
  </div>
`

/** @param {{ delivery: Delivery }} props */
function When({ delivery: { state, next_attempt_at: next, settled_at: settled } }) {
  const ahead = useContext(Ahead)
  if (state === 'given_up')
    return html`<p>
      Given up${settled !== null && html` at <${Utc} at=${settled} zone isReal />`}. It is sent again only if
      you resend it.
    </p>`
  if (next === null) return null
  const real = inUtc(parseTime(next).getTime() - ahead)
  return html`
    <p>
      <b>Next attempt <${Utc} at=${real} zone isReal help /></b
      >${isFarAhead(ahead) && html`, <span class="dim"><${Utc} at=${next} /> on its clock</span>`}.
    </p>
    <p class="hint">
      <a href="/docs#description/know-when-a-failed-webhook-is-retried">When a failed webhook is retried</a>
    </p>
  `
}
