import { html, useState } from '../preact.js'
import { call, offers } from '../api.js'
import { touch } from '../live.js'
import { Badge, Code, Curl, Done, Failure, Time, useAction } from '../parts.js'
import { duration, isAhead } from '../time.js'

/** @typedef {import('./endpoint.js').Endpoint} Endpoint */

/** @param {string} path @param {object} [body] */
async function act(path, body = {}) {
  const answer = await call(path, body)
  touch()
  return answer
}

const SINK = '/sandbox/use-sink'

/** One button, so that it keeps the focus when it was used. @param {string} health */
const pauseOrResume = (health) =>
  health === 'paused'
    ? { key: 'pause', path: '/resume-endpoint', label: 'Resume' }
    : { key: 'pause', path: '/pause-endpoint', label: 'Pause' }

/** Pause, resume, test, and the sink. @param {{ endpoint: Endpoint }} props */
export function Switches({ endpoint: { url, health, next_attempt_at: next, last_test: test } }) {
  const { busy, error, run } = useAction()
  const actions = [
    ...(health === 'failing' || isAhead(next)
      ? [{ key: 'retry', path: '/resume-endpoint', label: 'Retry now' }]
      : []),
    ...(url === null
      ? []
      : [pauseOrResume(health), { key: 'test', path: '/test-endpoint', label: 'Send a test' }]),
    ...(offers(SINK) ? [{ key: 'sink', path: SINK, label: 'Use our sink' }] : []),
  ]
  return html`
    <section class="card pad" aria-labelledby="switches">
      <h2 id="switches">Actions</h2>
      ${actions.map(
        ({ key, path, label }) => html`
          <div class="actions" key=${key}>
            <button
              type="button"
              aria-disabled=${busy !== undefined}
              onClick=${() => run(label, () => act(path))}
            >
              ${busy === label ? 'Working …' : label}
            </button>
            <${Curl} path=${path} />
          </div>
        `,
      )}
      ${
        offers(SINK) &&
        html`<p class="hint">
          No server yet? A sink is a test endpoint that we host: it shows the webhooks it receives, and you
          choose how it answers.
        </p>`
      }
      <${Failure} error=${error} />
      ${test && html`<${Test} test=${test} />`}
    </section>
  `
}

/** @param {{ test: any }} props */
const Test = ({ test: { state, requested_at: at, status, duration_ms: ms, hint } }) => html`
  <p role="status" class="line">
    <${Badge} state=${state} /> <span class="dim">Test <${Time} at=${at} /></span>
    ${state !== 'running' && html`<span class="figure"> ${status ?? 'no answer'} · ${duration(ms)}</span>`}
  </p>
  ${hint && html`<p class="hint-line">${hint}</p>`}
`

/** @param {{ secret: string }} props */
const Secret = ({ secret }) => html`
  <div role="status">
    <p><strong>Store this secret now.</strong> It is not shown again.</p>
    <${Code} text=${secret} label="Signing secret" />
  </div>
`

/** @param {{ endpoint: Endpoint }} props */
export function ChangeUrl({ endpoint: { url: current } }) {
  const [url, setUrl] = useState('')
  const { busy, error, done, run } = useAction()
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void run('set', async () => (await act('/set-endpoint', { url })).data.secret)
  }
  return html`
    <section class="card pad" aria-labelledby="change-url">
      <h2 id="change-url">${current === null ? 'Set your URL' : 'Change the URL'}</h2>
      <form onSubmit=${submit} novalidate>
        <label
          ><span>URL of your receiver</span>
          <input
            name="url"
            type="url"
            value=${url}
            placeholder="https://lender.example.com/webhooks"
            autocomplete="off"
            onInput=${(/** @type {InputEvent} */ event) => setUrl(/** @type {HTMLInputElement} */ (event.currentTarget).value.trim())}
          />
        </label>
        <p class="hint">A new URL gets webhooks once it has its secret and is certified.</p>
        <div class="actions">
          <button type="submit" disabled=${url === ''} aria-disabled=${busy !== undefined}>
            ${busy ? 'Working …' : 'Set URL'}
          </button>
          <${Curl} path="/set-endpoint" body=${{ url: url || 'https://lender.example.com/webhooks' }} />
        </div>
      </form>
      ${done && html`<${Secret} secret=${done} />`}
      <${Failure} error=${error} />
    </section>
  `
}

/** @param {{ endpoint: Endpoint }} props */
export function Rotate({ endpoint: { new_secret: waiting } }) {
  const [hours, setHours] = useState('24')
  const { busy, error, done, run } = useAction()
  const body = { overlap_hours: Number(hours) }
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void run('rotate', async () => (await act('/rotate-endpoint-secret', body)).data.secret)
  }
  return html`
    <section class="card pad" aria-labelledby="rotate">
      <h2 id="rotate">Rotate the secret</h2>
      <form onSubmit=${submit} novalidate>
        <label
          ><span>Hours until the previous secret expires</span>
          <input
            name="hours"
            type="number"
            min="0"
            max="168"
            value=${hours}
            onInput=${(/** @type {InputEvent} */ event) => setHours(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
          />
        </label>
        <div class="actions">
          <button type="submit" disabled=${hours === ''} aria-disabled=${busy !== undefined}>
            ${busy ? 'Working …' : 'Rotate'}
          </button>
          <${Curl} path="/rotate-endpoint-secret" body=${body} />
        </div>
      </form>
      ${done && html`<${Done}>Webhooks are signed with the new secret from now on.<//><${Secret} secret=${done} />`}
      ${waiting && html`<p class="dim">A new secret takes effect <${Time} at=${waiting.takes_effect_at} />.</p>`}
      <${Failure} error=${error} />
    </section>
  `
}
