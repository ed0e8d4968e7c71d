import { html, useState } from '../preact.js'
import { Badge } from '../parts.js'
import { link } from '../route.js'
import { Utc } from '../utc.js'
import { words } from '../words.js'

/** @import { SinkWebhook } from '../types.js' */

const FEW = 10

/** What the sink received, newest first; each leads to its lead. @param {{ webhooks: SinkWebhook[] }} props */
export function Arrivals({ webhooks }) {
  const [isAll, showAll] = useState(false)
  const shown = isAll ? webhooks : webhooks.slice(0, FEW)
  return html`
    <div class="section-head">
      <h3 id="received" tabindex="-1">Received</h3>
      ${webhooks.length > 0 && html`<span class="dim">Newest first, times in UTC</span>`}
    </div>
    ${webhooks.length === 0 && html`<p class="dim">Nothing yet. Create a lead, and its first webhook appears here.</p>`}
    <ol class="arrivals">
      ${shown.map((arrival, index) => html`<${Arrival} key=${`${arrival.received_at}-${index}`} arrival=${arrival} />`)}
    </ol>
    ${
      webhooks.length > FEW &&
      html`<div class="actions">
        <button type="button" aria-expanded=${isAll} onClick=${() => showAll(!isAll)}>
          ${isAll ? `Show the latest ${FEW}` : `Show ${webhooks.length - FEW} earlier`}
        </button>
      </div>`
    }
  `
}

/**
 * What arrived, in words: a webhook of a lead, or what a certification or a test sent.
 *
 * @param {any} arrival
 * @returns {{ name: string, check?: boolean, lead?: number, own?: string }}
 */
function describe({ webhook_id: id, event }) {
  const [, check] = /^cert_\d+_\d+_(\w+)$/.exec(id) ?? []
  if (check !== undefined) return { name: `Certification: ${words(check).toLowerCase()}`, check: true }
  const { type = 'unknown', data = {} } = event ?? {}
  if (type === 'endpoint.ping') return { name: 'Test' }
  const name = words(String(type).replaceAll('.', ' '))
  const { lead_id: lead, partner_lead_id: own } = data ?? {}
  return Number.isInteger(lead) ? { name, lead, own: own ?? `lead ${lead}` } : { name }
}

/** @param {{ arrival: SinkWebhook }} props */
const Arrival = ({ arrival }) => {
  const { webhook_id: id, received_at: at, verified, problem, status } = arrival
  const { name, check, lead, own } = describe(arrival)
  // a certification sends what has to be refused
  const isMeant = !verified && check
  return html`
    <li>
      <${Badge}
        state=${verified ? 'accepted' : isMeant ? 'canceled' : 'failed'}
        text=${verified ? 'Verified' : isMeant ? 'Refused' : 'Not verified'}
      />
      <span>
        ${lead === undefined ? name : html`<a href=${link(`leads/${lead}`, { event: id })}>${name}</a>`}
        ${own !== undefined && html`<span class="dim">${' · '}<span class="unbroken">${own}</span></span>`}
        ${isMeant && html`<span class="dim">, as it should be</span>`}
      </span>
      <span class="dim figure">answered${'\u00A0'}${status}</span>
      <span class="dim"><${Utc} at=${at} /></span>
      ${problem && !isMeant && html`<span class="hint-line">${problem}</span>`}
    </li>
  `
}
