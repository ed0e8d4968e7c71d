import { html } from '../preact.js'
import { call, offers } from '../api.js'
import { useLoad } from '../live.js'
import { Badge, Code, Empty, Fact, Failure, Loading, Time } from '../parts.js'
import { link } from '../route.js'
import { duration, isAhead } from '../time.js'
import { counted, words } from '../words.js'
import { Certification } from './certification.js'
import { ChangeUrl, Switches, Rotate } from './endpoint-actions.js'
import { Sink } from './sink.js'

/** @typedef {Record<string, any>} Endpoint what get-endpoint answers */

const SOON_MS = 1000
const LOOK_AGAIN_MS = 5000

export function EndpointView() {
  const { data, error, reload } = useLoad(
    async (signal) => /** @type {Endpoint} */ ((await call('/get-endpoint', {}, { signal })).data),
    [],
    (endpoint) => (isMoving(endpoint) ? SOON_MS : LOOK_AGAIN_MS),
  )
  return html`
    <div class="head">
      <h1 tabindex="-1">Endpoint</h1>
      ${data && html`<${Badge} state=${data.health} />`}
    </div>
    <${Failure} error=${error} again=${reload} />
    ${data === undefined && error === undefined && html`<${Loading} />`}
    ${data && html`<${Page} endpoint=${data} />`}
  `
}

/** @param {Endpoint} endpoint */
const isMoving = ({ certification, last_test: test, health, open_deliveries: open }) =>
  certification?.state === 'running' || test?.state === 'running' || health === 'draining' || open > 0

/** @param {{ endpoint: Endpoint }} props */
const Page = ({ endpoint }) => html`
  <div class="columns">
    <div class="stack">
      ${
        endpoint.url === null
          ? html`<${Empty} title="No endpoint yet">
              Your webhooks are held until you have one. Set a URL
              below${offers('/sandbox/use-sink') ? ', or use our sink' : ''}.
            <//>`
          : html`<${Health} endpoint=${endpoint} />`
      }
      <${Egress} addresses=${endpoint.egress_addresses} />
      <${Certification} endpoint=${endpoint} />
      <${Sink} endpoint=${endpoint} />
    </div>
    <aside>
      <${Switches} endpoint=${endpoint} />
      <${ChangeUrl} endpoint=${endpoint} />
      ${endpoint.url !== null && html`<${Rotate} endpoint=${endpoint} />`}
    </aside>
  </div>
`

/** @param {{ addresses: string[] }} props */
const Egress = ({ addresses }) =>
  addresses.length === 0
    ? null
    : html`
        <section class="card pad" aria-labelledby="egress">
          <h2 id="egress">Where webhooks come from</h2>
          <p>Behind a firewall, allow requests from these addresses and networks:</p>
          <${Code} text=${addresses.join('\n')} label="Addresses" />
        </section>
      `

/** @type {Record<string, string>} */
const sentences = {
  active: 'Webhooks are sent as they happen.',
  failing: 'Its latest attempts failed. Webhooks are retried with exponential backoff.',
  paused: 'Webhooks are held. None is lost: they are sent when the endpoint is resumed.',
  draining: 'Held webhooks are being sent, each lead’s in order.',
}

const retried = ' Those that failed before wait for their next attempt: “Retry now” tries them at once.'

/** @param {{ endpoint: Endpoint }} props */
function Health({ endpoint }) {
  const { url, health, reason, since, open_deliveries: open, recent_attempts: recent } = endpoint
  const { oldest_waiting: oldest, next_probe_at: probe, next_attempt_at: next } = endpoint
  const error = health === 'active' ? null : endpoint.last_error
  return html`
    <section class="card pad" aria-labelledby="health">
      <h2 id="health">${health === 'active' ? 'It works' : words(health)}</h2>
      <p>${sentences[health]}${health === 'active' && isAhead(next) && retried}</p>
      <p class="url figure">${url}</p>
      <div class="pictures">
        <${Success} recent=${recent} />
        <${Latency} recent=${recent} />
      </div>
      <dl class="facts">
        <${Fact} name=${`${words(health)} since`}><${Time} at=${since} as="full" /><//>
        ${['paused', 'draining'].includes(health) && html`<${Fact} name="Reason"><span class="sentence">${reason}</span><//>`}
        <${Fact} name="Waiting">
          ${open === 0 ? 'None' : html`<a href=${link('live', { states: health === 'paused' ? 'held' : 'pending' })}>${counted(open, 'webhook')}</a>`}
        <//>
        ${
          oldest &&
          html`<${Fact} name="Oldest waiting"
            ><a href=${link(`leads/${oldest.lead_id}`, { event: oldest.event_id })}
              >${words(oldest.event_name)}, lead ${oldest.lead_id}</a
            >${' '}<span class="dim">· <${Time} at=${oldest.waiting_since} /></span
          ><//>`
        }
        ${
          error &&
          html`<${Fact} name="Last error"
            ><span class="sentence">${error.hint ?? error.error_code}</span
            ><span class="dim"><${Time} at=${error.at} /></span
          ><//>`
        }
        ${next && html`<${Fact} name="Next attempt"><${Time} at=${next} /><//>`}
        ${probe && html`<${Fact} name="Next probe"><${Time} at=${probe} /><//>`}
      </dl>
    </section>
  `
}

/** The share of accepted attempts as a bar. @param {{ recent: any }} props */
function Success({ recent: { count, success_rate: rate } }) {
  if (count === 0)
    return html`<figure class="picture">
      <figcaption>Success rate</figcaption>
      <p class="dim">No attempt yet</p>
    </figure>`
  // never rounded up to a whole record
  const percent = rate === 1 ? '100%' : `${Math.min(99.9, rate * 100).toFixed(1)}%`
  return html`
    <figure class="picture">
      <figcaption>Success rate · last ${counted(count, 'attempt')}</figcaption>
      <strong class="figure">${percent}</strong>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="rest" width="100" height="6" rx="1" />
        <rect class="part" width=${rate * 100} height="6" rx="1" />
      </svg>
    </figure>
  `
}

/** On a logarithmic scale from a millisecond to the limit. @param {number} ms */
const along = (ms) => Math.min(100, Math.max(2, (Math.log10(Math.max(1, ms)) / Math.log10(15_000)) * 100))

/** Response times on the way to the time limit. @param {{ recent: any }} props */
function Latency({ recent: { duration_p50_ms: half, duration_p95_ms: most } }) {
  if (half === null)
    return html`<figure class="picture">
      <figcaption>Response time</figcaption>
      <p class="dim">No attempt yet</p>
    </figure>`
  return html`
    <figure class="picture">
      <figcaption>Response time · median and 95th percentile</figcaption>
      <strong class="figure">${duration(half)}<span class="dim"> · ${duration(most)}</span></strong>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="rest" width="100" height="6" rx="1" />
        <rect class="most" width=${along(most)} height="6" rx="1" />
        <rect class="part" width=${along(half)} height="6" rx="1" />
      </svg>
      <span class="scale"><span>1 ms</span><span>15 s limit</span></span>
    </figure>
  `
}
