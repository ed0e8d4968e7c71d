import { html, useState } from '../preact.js'
import { problemOf, shownState } from '../lead-data.js'
import { useLoad } from '../live.js'
import { Badge, Failure, Loading, Time } from '../parts.js'
import { duration } from '../time.js'
import { counted, words } from '../words.js'

/** @typedef {import('../lead-data.js').Delivery} Delivery */
/** @typedef {import('../lead-data.js').Step} Step */

/** An event with its webhook beside it. @param {{ step: Step, isOpen: boolean }} props */
export function Webhook({ step, isOpen }) {
  const { delivery } = step
  const [open, setOpen] = useState(isOpen)
  const toggle = (/** @type {Event} */ event) =>
    setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)
  const title = html`
    <span class="event-name">${words(step.event_name)}</span>
    <span class="event-when"><${Time} at=${step.created_at} /></span>
    <${Payload} payload=${step.event_payload} />
  `
  if (delivery === undefined) {
    return html`<li class="card event">
      <div class="event-head">${title}<span class="dim">Not sent as a webhook</span></div>
    </li>`
  }
  return html`
    <li class="card event">
      <details open=${open} onToggle=${toggle}>
        <summary class="event-head">
          ${title}
          <span class="event-state">
            <${Badge} state=${shownState(delivery)} />
            <span class="dim"><${Summary} delivery=${delivery} waits=${step.waits} /></span>
          </span>
          <${Problem} delivery=${delivery} />
        </summary>
        ${open && html`<${Detail} step=${step} delivery=${delivery} />`}
      </details>
    </li>
  `
}

/** @param {{ delivery: Delivery }} props */
const Problem = ({ delivery }) => {
  const problem = problemOf(delivery)
  return problem === undefined ? null : html`<span class="hint-line problem">${problem}</span>`
}

/** @param {{ payload: Record<string, any> | null }} props */
const Payload = ({ payload }) =>
  payload === null
    ? null
    : html`<span class="payload"
        >${Object.entries(payload).map(
          ([name, value]) => html`<span key=${name}>${words(name)} <b>${signed(name, value)}</b></span>`,
        )}</span
      >`

/** @param {string} name @param {unknown} value */
const signed = (name, value) =>
  name.endsWith('_gain') && Number(value) > 0 ? `+${Number(value)}` : String(value)

/** What matters about a webhook at a glance. @param {{ delivery: Delivery, waits: boolean }} props */
function Summary({ delivery, waits }) {
  const { state, attempts, next_attempt_at: next, resend_requested_at: resend } = delivery
  if (resend !== null) return html`resend requested <${Time} at=${resend} as="past" />`
  const last = attempts.at(-1)
  if (state === 'held') return 'endpoint paused'
  if (state === 'pending' && waits) return 'waiting for an earlier webhook'
  if (state === 'pending' && attempts.length === 0) return 'not sent yet'
  if (state === 'pending' && next === null) return 'attempt under way'
  if (state === 'pending') return html`next attempt <${Time} at=${next} />`
  if (state === 'delivered' && attempts.length === 1) return duration(last?.duration_ms ?? null)
  return attempts.length === 0 ? '' : counted(attempts.length, 'attempt')
}

/** Its files are loaded with the first webhook that is opened. @param {{ step: Step, delivery: Delivery }} props */
function Detail(props) {
  const {
    data: Loaded,
    error,
    reload,
  } = useLoad(async () => (await import('./webhook-detail.js')).Detail, [])
  if (Loaded === undefined)
    return error ? html`<${Failure} error=${error} again=${reload} />` : html`<${Loading} />`
  return html`<${Loaded} ...${props} />`
}
