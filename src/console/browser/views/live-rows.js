import { html } from '../preact.js'
import { lastOf, outcomeOf, shownState } from '../lead-data.js'
import { Badge, useAction } from '../parts.js'
import { link } from '../route.js'
import { duration, inUtc } from '../time.js'
import { Utc } from '../utc.js'
import { stateOf, words } from '../words.js'
import { resendWebhook } from './resend.js'

/** @typedef {import('../types.js').Delivery} Delivery */
/** @typedef {import('./live.js').Row} Row */

/**
 * When an event was recorded, in real time: `evt_` and a UUIDv7, which begins with it. `created_at` follows the lead's
 * clock, and times of several clocks in one column would tell nothing.
 *
 * @param {string} id
 */
const recordedAt = (id) =>
  inUtc(new Date(Number.parseInt(id.replace('evt_', '').replace('-', '').slice(0, 12), 16)))

/** @param {{ rows: Row[] }} props */
export const Rows = ({ rows }) => html`
  <div class="card table" role="region" aria-label="Webhooks">
    <table class="dense">
      <thead>
        <tr>
          <th scope="col" class="wide-only">Recorded (UTC)</th>
          <th scope="col">Event</th>
          <th scope="col" class="number wide-only">Lead</th>
          <th scope="col" class="wide-only">Your lead id</th>
          <th scope="col">Webhook</th>
          <th scope="col" class="wide-only">Response</th>
          <th scope="col" class="wide-only"><span class="hidden">Resend</span></th>
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => html`<${LiveRow} key=${row.event_id} row=${row} />`)}
      </tbody>
    </table>
  </div>
`

/** @param {{ row: Row }} props */
const LiveRow = ({
  row: {
    event_id: id,
    event_name: name,
    lead_id: lead,
    partner_lead_id: own,
    delivery,
    isSent,
    isNew,
    isErased,
  },
}) => html`
  <tr class=${isNew ? 'fresh' : ''}>
    <td class="wide-only"><${Utc} at=${recordedAt(id)} /></td>
    <td>
      ${
        isErased
          ? html`<span class="dim">${words(name)}</span>`
          : html`<a class="row" href=${link(`leads/${lead}`, { event: delivery && id })}>${words(name)}</a>`
      }
      <span class="narrow-only dim">Lead ${lead}${own && html` · <span class="unbroken">${own}</span>`}</span>
      <span class="narrow-only dim"><${Utc} at=${recordedAt(id)} zone /></span>
    </td>
    <td class="number figure wide-only">${lead}</td>
    <td class="wide-only id">${own ?? html`<span class="dim">–</span>`}</td>
    <td>
      ${delivery && html`<${State} delivery=${delivery} />`}
      ${!delivery && (isSent ? html`<${Badge} state="pending" />` : html`<span class="dim">Not sent</span>`)}
      ${isErased && html`<span class="narrow-only dim">Lead erased</span>`}
      ${delivery !== undefined && html`<span class="narrow-only figure"><${Response} delivery=${delivery} /></span>`}
      <span class="narrow-only"><${Resend} delivery=${delivery} /></span>
    </td>
    <td class="figure wide-only">${delivery && html`<${Response} delivery=${delivery} />`}</td>
    <td class="end wide-only">
      ${isErased ? html`<span class="dim">Lead erased</span>` : html`<${Resend} delivery=${delivery} />`}
    </td>
  </tr>
`

/** A webhook that was delivered and then refused as a resend is not shown as delivered; of an erased lead, nothing is good or bad. @param {{ delivery: Delivery }} props */
const State = ({ delivery }) =>
  delivery.lead_erased
    ? html`<${Badge} state="canceled" text=${stateOf(delivery.state).text} />`
    : html`<${CurrentState} delivery=${delivery} />`

/** @param {{ delivery: Delivery }} props */
const CurrentState = ({ delivery }) =>
  delivery.state === 'delivered' && lastOf(delivery)?.error_code
    ? html`<${Badge} state="failed" text="Resend failed" />`
    : html`<${Badge} state=${shownState(delivery)} />`

/** @param {{ delivery: Delivery }} props */
function Response({ delivery }) {
  if (delivery.fault !== null) return html`<span class="sentence bad-line">${delivery.fault}</span>`
  const last = lastOf(delivery)
  if (last === undefined) return html`<span class="dim">–</span>`
  return html`${outcomeOf(last).text}${' '}<span class="dim"
      >· ${duration(last.duration_ms)}${last.number > 1 && ` · attempt\u00A0${last.number}`}</span
    >`
}

/** @param {{ delivery: Delivery | undefined }} props */
const Resend = ({ delivery }) =>
  delivery === undefined || delivery.lead_erased || delivery.state === 'canceled'
    ? null
    : html`<${ResendButton} delivery=${delivery} />`

/** @param {{ delivery: Delivery }} props */
function ResendButton({ delivery: { event_id: id, event_name: name, lead_id: lead } }) {
  const { busy, error, done, run } = useAction()
  const resend = () => run('resend', () => resendWebhook(id))
  return html`
    <button type="button" class="small quiet" aria-disabled=${busy !== undefined} onClick=${resend}>
      ${busy ? 'Resending …' : done ? 'Resent' : error ? 'Try again' : 'Resend'}
      <span class="hidden">${` ${words(name)} for lead ${lead}`}</span>
    </button>
    <span class="hidden" role="status">${busy ? 'Resending …' : done}</span>
    ${error && html`<span class="hint-line" role="alert">Not resent. ${error.message}</span>`}
  `
}
