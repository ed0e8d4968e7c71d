import { html } from '../preact.js'
import { Badge } from '../parts.js'
import { link } from '../route.js'
import { Utc } from '../utc.js'
import { counted } from '../words.js'

/** @typedef {import('../types.js').LeadSummary} LeadSummary */
/** @typedef {import('../leads-data.js').Filter} Filter */

/** @param {{ leads: LeadSummary[], filter: Filter }} props */
export const LeadTable = ({ leads, filter }) => html`
  <div class="card table leads">
    <table>
      <thead>
        <tr>
          <th scope="col" class="number" aria-sort=${direction(filter, 'oldest', '')}>Lead</th>
          <th scope="col" class="wide-only" aria-sort=${direction(filter, 'name', 'name-down')}>
            Your lead id
          </th>
          <th scope="col">Status</th>
          <th scope="col" class="wide-only">Webhooks</th>
          <th scope="col" class="wide-only" aria-sort=${direction(filter, 'unchanged', 'changed')}>
            Last change <small>lead’s clock, UTC</small>
          </th>
          <th scope="col" class="wide-only">Created <small>UTC</small></th>
        </tr>
      </thead>
      <tbody>
        ${leads.map((lead) => html`<${LeadRow} key=${lead.lead_id} lead=${lead} />`)}
      </tbody>
    </table>
  </div>
`

/** @param {Filter} filter @param {string} up @param {string} down the orders by a column */
const direction = ({ sort }, up, down) =>
  sort === up ? 'ascending' : sort === down ? 'descending' : undefined

/** @param {{ lead: LeadSummary }} props */
const LeadRow = ({ lead }) => html`
  <tr>
    <td class="number">
      <a class="row" href=${link(`leads/${lead.lead_id}`)}>${lead.lead_id}</a>
      <span class="narrow-only name">${lead.partner_lead_id}</span>
    </td>
    <td class="id wide-only" title=${lead.partner_lead_id}>
      ${lead.partner_lead_id ?? html`<span class="dim">–</span>`}
    </td>
    <td>
      <span class="badges"
        ><${Badge} state=${lead.status} />${lead.closed && html`<${Badge} state="closed" />`}</span
      >
      ${!isWell(lead) && html`<span class="narrow-only"><${WebhookMark} lead=${lead} /></span>`}
    </td>
    <td class="wide-only"><${WebhookMark} lead=${lead} /></td>
    <td class="wide-only"><${Utc} at=${lead.updated_at} /></td>
    <td class="wide-only"><${Utc} at=${lead.created_at} /></td>
  </tr>
`

/** @param {LeadSummary} lead */
const isWell = ({ delivery, open_deliveries: open }) => delivery === 'ok' && open === 0

/** @param {{ lead: LeadSummary }} props */
function WebhookMark({ lead: { delivery, open_deliveries: open } }) {
  if (delivery !== 'ok')
    return html`<${Badge} state=${delivery} /> <span class="dim">${counted(open, 'webhook')}</span>`
  return html`<${Badge}
    state=${open > 0 ? 'sending' : 'ok'}
    text=${open > 0 ? undefined : 'All delivered'}
  />`
}
