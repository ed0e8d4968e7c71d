import { html } from '../preact.js'
import { Badge, Fact } from '../parts.js'
import { link } from '../route.js'
import { isSink, toldSink } from '../sinks.js'
import { duration, isAhead } from '../time.js'
import { Utc } from '../utc.js'
import { counted, words } from '../words.js'
import { Actions } from './actions.js'

/** @typedef {import('./endpoint.js').Endpoint} Endpoint */

/** Nobody has called it, not even to certify it. @param {Endpoint} endpoint */
const isUnused = ({ last_success_at: success, last_error: error, certification }) =>
  (success ?? error ?? certification) === null

/** What the badge beside the page's heading does not say. @param {Endpoint} endpoint */
function titleOf(endpoint) {
  const { health, open_deliveries: open, next_attempt_at: next } = endpoint
  if (health === 'failing') return 'The latest attempts failed'
  if (health === 'paused') return 'Webhooks are held'
  if (isUnused(endpoint)) return 'Nothing was sent yet'
  return isAhead(next)
    ? `${counted(open, 'webhook')} ${open === 1 ? 'waits' : 'wait'} for a retry`
    : 'It works'
}

/** What is wrong, in a sentence. @param {Endpoint} endpoint @returns {string | undefined} */
function problemOf({ url, health, reason, last_error: error }) {
  if (health === 'failing')
    return (isSink(url) && error && toldSink(error)) || (error?.hint ?? 'its latest attempts failed')
  return health === 'paused' ? `it is paused, because ${reason}` : undefined
}

/** What happens, and what to do first. @param {Endpoint} endpoint */
function adviceOf(endpoint) {
  const { url, health, next_attempt_at: next } = endpoint
  if (health === 'failing' && isSink(url))
    return 'Set how it answers below, then “Retry now” sends all that waits. Otherwise webhooks are retried with exponential backoff.'
  if (health === 'failing')
    return 'Repair your endpoint, then “Retry now” sends all that waits. Otherwise webhooks are retried with exponential backoff.'
  if (health === 'paused')
    return 'Webhooks are held. None is lost: they are sent when the endpoint is resumed.'
  if (isUnused(endpoint))
    return `Create a lead, and its first webhook goes there.${isLocal(url) ? ' If you did not set this URL, it is the demo endpoint that came with the sandbox, which prints what it gets where npm start runs.' : ''}`
  return isAhead(next)
    ? 'Webhooks are sent as they happen. Those that failed before wait for their next attempt: “Retry now” tries them at once.'
    : 'Webhooks are sent as they happen.'
}

/** As the one that npm start has. @param {string | null} url */
const isLocal = (url) => url !== null && URL.canParse(url) && new URL(url).hostname === '127.0.0.1'

/** One button pauses and resumes, so that it keeps the focus when it was used. @param {Endpoint} endpoint @returns {import('./actions.js').Action[]} */
const actsOf = ({ health, next_attempt_at: next }) => [
  ...(health === 'failing' || (health !== 'paused' && isAhead(next))
    ? [{ path: /** @type {const} */ ('/resume-endpoint'), label: 'Retry now', isFirst: true, key: 'retry' }]
    : []),
  health === 'paused'
    ? { path: '/resume-endpoint', label: 'Resume', isFirst: true, key: 'pause' }
    : { path: '/pause-endpoint', label: 'Pause', key: 'pause' },
  { path: '/test-endpoint', label: 'Send a test', key: 'test' },
]

/** @param {{ endpoint: Endpoint }} props */
export function Health({ endpoint }) {
  const { url, health, last_error: error } = endpoint
  const problem = problemOf(endpoint)
  const said = isSink(url) || (problem ? (error?.hint ?? null) : null)
  const tell = (/** @type {any} */ { data }, /** @type {import('./actions.js').Action} */ { key }) =>
    key === 'test' && html`<${Test} test=${data} said=${said} />`
  return html`
    <section class="card pad" aria-labelledby="health">
      <h2 id="health">${titleOf(endpoint)}</h2>
      ${problem && html`<p class=${health === 'paused' ? 'sentence' : 'sentence bad-line'}>${problem}.</p>`}
      <p>${adviceOf(endpoint)} ${health === 'failing' && isSink(url) && html`<${ToReceived} />`}</p>
      <${Actions} actions=${actsOf(endpoint)} tell=${tell} />
      <${Facts} endpoint=${endpoint} />
    </section>
  `
}

/** To what the sink received, below. */
function ToReceived() {
  const show = (/** @type {Event} */ event) => {
    event.preventDefault()
    const heading = /** @type {HTMLElement | null} */ (document.querySelector('#received'))
    heading?.scrollIntoView()
    heading?.focus()
  }
  return html`<a href=${link('endpoint')} onClick=${show}>See what it received</a>`
}

/** What came of a test. @param {{ test: import('../types.js').Answer<'/test-endpoint'>['data'], said: string | boolean | null }} props `said`: a hint that is on the page already, or `true` for any */
const Test = ({ test: { accepted, status, duration_ms: ms, hint }, said }) => html`
  <p role="status" class="line">
    <${Badge} state=${accepted ? 'accepted' : 'failed'} /> <span>Test</span>
    <span class="figure"> ${status ?? 'no answer'} · ${duration(ms)}</span>
  </p>
  ${hint && said !== true && hint !== said && html`<p class="hint-line">${hint}</p>`}
`

/** @param {{ endpoint: Endpoint }} props */
const Facts = ({ endpoint }) => {
  const { url, health, since, open_deliveries: open } = endpoint
  const { next_probe_at: probe, next_attempt_at: next } = endpoint
  const error = health === 'active' ? null : endpoint.last_error
  const states = health === 'paused' ? 'held' : 'pending'
  return html`
    <dl class="facts">
      <${Fact} name="URL"
        ><span class="url">${url}</span>${isSink(url) && html`<span class="dim"> · our sink</span>`}<//
      >
      <${Fact} name="Waiting">
        ${open === 0 ? 'None' : html`<a href=${link('live', { states })}>${counted(open, 'webhook')}</a>`}
      <//>
      ${error && html`<${Fact} name="Last error">${error.status ?? words(error.error_code)}, <${Utc} at=${error.at} zone help /><//>`}
      ${next && html`<${Fact} name="Next attempt"><${Utc} at=${next} zone help /><//>`}
      ${probe && html`<${Fact} name="Next probe"><${Utc} at=${probe} zone help /><//>`}
      <${Fact} name=${`${words(health)} since`}><${Utc} at=${since} zone /><//>
    </dl>
  `
}
