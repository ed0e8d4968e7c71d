import { html } from '../preact.js'
import { call } from '../api.js'
import { Lazy } from '../lazy.js'
import { useLoad } from '../live.js'
import { Badge, Pending } from '../parts.js'
import { hasSinks } from '../service.js'
import { isSink } from '../sinks.js'
import { styled } from '../styled.js'
import { ChangeUrl, OfferSink, Rotate } from './endpoint-actions.js'
import { Health } from './health.js'
import { NoEndpoint } from './no-endpoint.js'

await styled('forms.css', 'endpoint.css')

/** @typedef {import('../types.js').Endpoint} Endpoint */

const SOON_MS = 1000
const LOOK_AGAIN_MS = 5000

export function EndpointView() {
  const loaded = useLoad(
    async (signal) => (await call('/get-endpoint', {}, { signal })).data,
    [],
    (endpoint) => (isMoving(endpoint) ? SOON_MS : LOOK_AGAIN_MS),
  )
  const { data } = loaded
  return html`
    <div class="head">
      <h1 tabindex="-1">Endpoint</h1>
      ${data && data.url !== null && html`<${Badge} state=${data.health} />`}
    </div>
    <${Pending} of=${loaded} />
    ${data && html`<${Page} endpoint=${data} />`}
  `
}

/** @param {Endpoint} endpoint */
const isMoving = ({ certification, open_deliveries: open }) => certification?.state === 'running' || open > 0

const loadCandidate = async () => (await import('./certification.js')).Candidate
const loadReport = async () => (await import('./certification.js')).Report
const loadSink = async () => (await import('./sink.js')).Sink

/** What is wrong and what to do first, then actions, then reports. @param {{ endpoint: Endpoint }} props */
function Page({ endpoint }) {
  const { url, candidate, certification } = endpoint
  return html`
    <div class="columns ordered">
      <div class="stack">
        ${url !== null && html`<${Health} endpoint=${endpoint} />`}
        ${candidate && html`<${Lazy} key="candidate" load=${loadCandidate} candidate=${candidate} />`}
        ${url === null && !candidate && html`<${NoEndpoint} waiting=${endpoint.open_deliveries} />`}
      </div>
      <aside>
        <${ChangeUrl} url=${url} />
        ${url !== null && html`<${Rotate} />`}
        ${hasSinks && !isSink(url) && (url !== null || candidate) && html`<${OfferSink} />`}
      </aside>
      <div class="stack">
        ${isSink(url) && html`<${Lazy} key="sink" load=${loadSink} />`}
        ${certification && html`<${Lazy} key="report" load=${loadReport} certification=${certification} />`}
      </div>
    </div>
  `
}
