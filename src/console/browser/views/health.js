import { html } from '../preact.js'
import { isSink, reasonOf } from '../deliveries.js'
import { Actions } from '../forms.js'
import { Badge, Card, Fact } from '../parts.js'
import { link } from '../route.js'
import { duration, isAhead, Utc } from '../time.js'
import { counted, words } from '../words.js'

/** @typedef {import('../types.js').Endpoint} Endpoint */

/** Whether a URL may be that of the demo endpoint of npm start. @param {string | null} url */
const isLocal = (url) => url !== null && URL.canParse(url) && new URL(url).hostname === '127.0.0.1'

/**
 * What the badge beside the page's heading does not say: a title, what is wrong, and what to do first.
 *
 * @param {Endpoint} endpoint
 * @returns {{ title: string, problem?: string, advice: string }}
 */
function stateOf({ url, health, reason, last_error: error, last_success_at: success, ...endpoint }) {
  const { certification, open_deliveries: open, next_attempt_at: next } = endpoint
  if (health === 'failing')
    return {
      title: 'The latest attempts failed',
      problem: (error && reasonOf(url, error)) ?? 'its latest attempts failed',
      advice: `${isSink(url) ? 'Set how it answers below' : 'Repair your endpoint'}, then “Retry now” sends everything that waits. Otherwise webhooks are retried with exponential backoff.`,
    }
  if (health === 'paused')
    return {
      title: 'Webhooks are held',
      problem: `it is paused, because ${reason}`,
      advice: 'None is lost: they are sent when the endpoint is resumed.',
    }
  if ((success ?? error ?? certification) === null)
    return {
      title: 'Nothing was sent yet',
      advice: `Create a lead, and its first webhook goes there.${isLocal(url) ? ' If you did not set this URL, it is the demo endpoint that came with the sandbox. It prints its webhooks where npm start runs.' : ''}`,
    }
  if (isAhead(next))
    return {
      title: `${counted(open, 'webhook')} ${open === 1 ? 'waits' : 'wait'} for a retry`,
      advice:
        'Webhooks are sent as they happen. Those that failed before wait for their next attempt: “Retry now” tries them at once.',
    }
  return { title: 'It works', advice: 'Webhooks are sent as they happen.' }
}

/** One button pauses and resumes, so that it keeps the focus when it was used. @param {Endpoint} endpoint @returns {import('../forms.js').Action[]} */
const actionsOf = ({ health, next_attempt_at: next }) => [
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
  const { title, problem, advice } = stateOf(endpoint)
  const tell = (/** @type {any} */ { data }, /** @type {import('../forms.js').Action} */ { key }) =>
    key === 'test' && html`<${Test} test=${data} problem=${problem} />`
  return html`
    <${Card} id="health" title=${title}>
      ${problem && html`<p class=${endpoint.health === 'paused' ? 'sentence' : 'sentence bad'}>${problem}.</p>`}
      <p>${advice}</p>
      <${Actions} actions=${actionsOf(endpoint)} tell=${tell} />
      <${Facts} endpoint=${endpoint} />
    <//>
  `
}

/** The result of a test. @param {{ test: import('../types.js').Answer<'/test-endpoint'>['data'], problem: string | undefined }} props `problem`: what the page says already */
const Test = ({ test: { accepted, status, duration_ms: ms, hint }, problem }) => html`
  <p role="status" class="actions">
    <${Badge} state=${accepted ? 'accepted' : 'failed'} />
    <span>Test: ${status ?? 'no answer'} · ${duration(ms)}</span>
  </p>
  ${hint && hint !== problem && html`<p class="bad hint sentence">${hint}</p>`}
`

/** @param {{ endpoint: Endpoint }} props */
function Facts({ endpoint }) {
  const { url, health, since, open_deliveries: open, next_probe_at: probe, next_attempt_at: next } = endpoint
  const error = health === 'active' ? null : endpoint.last_error
  const states = health === 'paused' ? 'held' : 'pending'
  return html`
    <dl class="facts">
      <${Fact} name="URL">
        <span class="url">${url}</span>${isSink(url) && html`<span class="dim"> · our sink</span>`}
      <//>
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
