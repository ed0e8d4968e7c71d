import { html, useState } from '../preact.js'
import { call } from '../api.js'
import { Actions, Field } from '../forms.js'
import { useLoad } from '../live.js'
import { Badge, Card, Done, Pending } from '../parts.js'
import { link } from '../route.js'
import { duration, Utc } from '../time.js'
import { counted, words } from '../words.js'

/** @import { Answer, SinkWebhook } from '../types.js' */

const LOOK_AGAIN_MS = 2000

/** How the sink can be told to answer. @type {[text: string, body: object][]} */
const answers = [
  ['Accept everything', {}],
  ['Fail twice, then succeed', { status: 503, times: 2 }],
  ['Always fail', { status: 503 }],
  ['Answer 410 Gone', { status: 410 }],
  ['Time out', { delay_ms: 20_000 }],
]

/** Our own endpoint: how it answers, and what it received. */
export function Sink() {
  const loaded = useLoad(
    async (signal) => (await call('/sandbox/get-sink', {}, { signal })).data,
    [],
    () => LOOK_AGAIN_MS,
  )
  const { data } = loaded
  return html`
    <${Card} id="sink" title="Sink">
      <p class="dim">We receive your webhooks here. Make it fail to see retries, ordering and recovery.</p>
      <${Pending} of=${loaded} />
      ${data && html`<${SetAnswer} current=${data} /><${Arrivals} webhooks=${data.webhooks} />`}
    <//>
  `
}

/** @param {{ current: Answer<'/sandbox/get-sink'>['data'] }} props */
function SetAnswer({ current: { status, times, delay_ms: delay } }) {
  const [chosen, choose] = useState('0')
  const after = delay > 0 ? ` after ${duration(delay)}` : ''
  const next = times === null ? '' : ` to the next ${counted(times, 'webhook')}, then 200`
  return html`
    <p role="status">It answers ${status}${after}${next}.</p>
    <${Field}
      name="answer"
      label="How it should answer"
      value=${chosen}
      options=${answers.map(([text], index) => [String(index), text])}
      onValue=${choose}
    />
    <${Actions}
      actions=${[{ label: 'Set answer', path: '/sandbox/set-sink', body: answers[Number(chosen)]?.[1] }]}
      tell=${() => html`<${Done}>The answer is set.<//>`}
    />
  `
}

/** What the sink received, newest first; each leads to its lead. @param {{ webhooks: SinkWebhook[] }} props */
function Arrivals({ webhooks }) {
  return html`
    <div class="section-head">
      <h3>Received</h3>
      ${webhooks.length > 0 && html`<span class="dim">Newest first, times in UTC</span>`}
    </div>
    ${webhooks.length === 0 && html`<p class="dim">Nothing yet. Create a lead, and its first webhook appears here.</p>`}
    <ol class="list">
      ${webhooks.map((arrival, index) => html`<${Arrival} key=${`${arrival.received_at}-${index}`} arrival=${arrival} />`)}
    </ol>
  `
}

/** A webhook of a lead, or what a certification or a test sent. @param {{ arrival: SinkWebhook }} props */
function Arrival({ arrival: { webhook_id: id, received_at: at, verified, problem, status, event } }) {
  const [, check] = /^cert_\d+_\d+_(\w+)$/.exec(id) ?? []
  const { type, data } = /** @type {any} */ (event ?? {})
  const lead = data?.lead_id
  const name = check === undefined ? words(type ?? 'unknown') : `Certification: ${words(check).toLowerCase()}`
  // a certification sends what has to be refused
  const isMeant = !verified && check !== undefined
  return html`
    <li>
      <${Badge}
        state=${verified ? 'accepted' : isMeant ? 'canceled' : 'failed'}
        text=${verified ? 'Verified' : isMeant ? 'Refused' : 'Not verified'}
      />
      <span>
        ${Number.isInteger(lead) ? html`<a href=${link(`leads/${lead}`, { event: id })}>${name}</a>` : name}
        ${Number.isInteger(lead) && html`<span class="dim"> · ${data.partner_lead_id ?? `lead ${lead}`}</span>`}
        ${isMeant && html`<span class="dim">, as it should be</span>`}
      </span>
      <span class="dim">answered ${status} · <${Utc} at=${at} /></span>
      ${problem && !isMeant && html`<span class="more bad">${problem}</span>`}
    </li>
  `
}
