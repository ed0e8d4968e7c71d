import { html, useEffect, useRef, useState } from '../preact.js'
import { lastOf, outcomeOf, problemOf, shownState } from '../lead-data.js'
import { Lazy } from '../lazy.js'
import { Badge } from '../parts.js'
import { duration } from '../time.js'
import { Utc } from '../utc.js'
import { words } from '../words.js'

/** @import { Delivery, Step } from '../types.js' */

const detail = async () => (await import('./webhook-detail.js')).Detail
const late = async () => (await import('./late.js')).Late

/**
 * An event and its webhook as one row. Below it: why the webhook is late, and, once it is opened, all about it.
 *
 * @param {{ step: Step, waiting: number, isChosen: boolean }} props `waiting`: how many webhooks wait for this one
 */
export function EventRow({ step, waiting, isChosen }) {
  const { delivery } = step
  const [isOpen, setOpen] = useState(isChosen)
  const row = useRef(/** @type {HTMLElement | null} */ (null))
  useEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: 'center' })
  }, [])
  const problem = delivery && problemOf(delivery)
  const id = `detail-${delivery?.event_id}`
  return html`
    <tbody ref=${row} class=${`event ${problem === undefined ? '' : 'late'} ${isOpen ? 'open' : ''}`}>
      <tr>
        <td class="number figure">${delivery?.sequence}</td>
        <td>
          ${
            delivery === undefined
              ? html`<span class="event-name">${words(step.event_name)}</span>`
              : html`<button
                  type="button"
                  class="toggle event-name"
                  aria-expanded=${isOpen}
                  aria-controls=${isOpen ? id : undefined}
                  onClick=${() => setOpen(!isOpen)}
                >
                  ${words(step.event_name)}
                </button>`
          }
          <${Gains} payload=${step.event_payload} />
          <span class="narrow-only dim"><${Utc} at=${step.created_at} zone /></span>
        </td>
        <td class="wide-only"><${Utc} at=${step.created_at} /></td>
        <td>
          ${delivery === undefined ? html`<span class="dim">None</span>` : html`<${Badge} state=${shownState(delivery)} />`}
          ${delivery && html`<span class="narrow-only dim"><${Summary} delivery=${delivery} /></span>`}
        </td>
        <td class="wide-only dim">${delivery && html`<${Summary} delivery=${delivery} />`}</td>
      </tr>
      ${
        delivery !== undefined &&
        problem !== undefined &&
        html`<tr class="below-row">
          <td colspan="5">
            <${Lazy} load=${late} delivery=${delivery} problem=${problem} waiting=${waiting} />
          </td>
        </tr>`
      }
      ${
        isOpen &&
        delivery !== undefined &&
        html`<tr class="below-row" id=${id}>
          <td colspan="5"><${Lazy} load=${detail} step=${step} delivery=${delivery} /></td>
        </tr>`
      }
    </tbody>
  `
}

/** The points of a score update. @param {{ payload: Record<string, any> | null }} props */
function Gains({ payload }) {
  const gains = Object.entries(payload ?? {}).filter(([name]) => name.endsWith('_gain'))
  if (gains.length === 0) return null
  return html`<span class="gains"
    >${gains.map(
      ([name, points]) =>
        html`<span key=${name}>${words(name.replace('_gain', ''))} <b>${signed(Number(points))}</b></span
          >${' '}`,
    )}</span
  >`
}

/** @param {number} points */
const signed = (points) => (points > 0 ? `+${points}` : String(points).replace('-', '−'))

/** What matters about a webhook at a glance. @param {{ delivery: Delivery }} props */
function Summary({ delivery }) {
  const { state, attempts, waits_for: earlier } = delivery
  if (state === 'held') return 'Endpoint paused'
  if (earlier !== null) return `Waits for webhook ${earlier.sequence}`
  const last = lastOf(delivery)
  if (last === undefined) return attempts.length === 0 ? 'Not sent yet' : 'Under way'
  const { text } = outcomeOf(last)
  return last.number > 1 ? `${text}, attempt\u00A0${last.number}` : `${text} in ${duration(last.duration_ms)}`
}
