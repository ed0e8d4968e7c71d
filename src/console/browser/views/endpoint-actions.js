import { html, useState } from '../preact.js'
import { call, offers } from '../api.js'
import { Field, problemOf, problemsOf, useWrongField } from '../fields.js'
import { touch } from '../live.js'
import { Code } from '../code.js'
import { Done, Failure, useAction } from '../parts.js'
import { Curl } from './curls.js'

/** @typedef {import('./endpoint.js').Endpoint} Endpoint */

export const USE_SINK = '/sandbox/use-sink'

/** @param {string} path @param {object} [body] */
async function act(path, body = {}) {
  const answer = await call(path, body)
  touch()
  return answer
}

/** For those who have no server yet. */
export const OfferSink = () => (offers(USE_SINK) ? html`<${SinkOffer} />` : null)

function SinkOffer() {
  const { busy, error, run } = useAction()
  return html`
    <section class="card pad" aria-labelledby="use-sink">
      <h2 id="use-sink">No server yet?</h2>
      <p class="hint">
        A sink is a test endpoint that we host: it shows the webhooks it receives, and you choose how it
        answers.
      </p>
      <div class="actions">
        <button
          type="button"
          aria-disabled=${busy !== undefined}
          onClick=${() => run('sink', () => act(USE_SINK))}
        >
          ${busy ? 'Working …' : 'Use our sink'}
        </button>
        <${Curl} path=${USE_SINK} />
      </div>
      <${Failure} error=${error} />
    </section>
  `
}

/** @param {{ secret: string }} props */
const Secret = ({ secret }) => html`
  <div role="status">
    <p><strong>Store this secret now.</strong> It is not shown again.</p>
    <${Code} text=${secret} label="Signing secret" isWhole />
  </div>
`

/** @type {import('../fields.js').FormField} */
const urlField = {
  name: 'url',
  label: 'URL of your receiver',
  type: 'url',
  placeholder: 'https://lender.example.com/webhooks',
  hint: 'A new URL gets webhooks once it has its secret and is certified.',
}

/** @param {{ endpoint: Endpoint }} props */
export function ChangeUrl({ endpoint: { url: current } }) {
  const [url, setUrl] = useState('')
  const { busy, error, done, run } = useAction()
  const problem = problemOf(problemsOf(error, [urlField]), 'url')
  const form = useWrongField(error)
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void run('set', async () => (await act('/set-endpoint', { url })).data.secret)
  }
  return html`
    <section class="card pad" aria-labelledby="change-url">
      <h2 id="change-url">${current === null ? 'Set your URL' : 'Change the URL'}</h2>
      <form ref=${form} onSubmit=${submit} novalidate>
        <${Field}
          field=${urlField}
          value=${url}
          problem=${problem}
          isAlone
          onInput=${(/** @type {InputEvent} */ event) => setUrl(/** @type {HTMLInputElement} */ (event.currentTarget).value.trim())}
        />
        <div class="actions">
          <button type="submit" disabled=${url === ''} aria-disabled=${busy !== undefined}>
            ${busy ? 'Working …' : 'Set URL'}
          </button>
          <${Curl} path="/set-endpoint" body=${{ url: url || urlField.placeholder }} />
        </div>
      </form>
      ${done && html`<${Secret} secret=${done} />`}
      ${problem === undefined && html`<${Failure} error=${error} />`}
    </section>
  `
}

/** @type {import('../fields.js').FormField} */
const hoursField = { name: 'overlap_hours', label: 'Hours until the previous secret expires', type: 'number' }

export function Rotate() {
  const [hours, setHours] = useState('24')
  const { busy, error, done, run } = useAction()
  const problem = problemOf(problemsOf(error, [hoursField]), 'overlap_hours')
  const form = useWrongField(error)
  const body = { overlap_hours: Number(hours) }
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void run('rotate', async () => (await act('/rotate-endpoint-secret', body)).data.secret)
  }
  return html`
    <section class="card pad" aria-labelledby="rotate">
      <h2 id="rotate">Rotate the secret</h2>
      <form ref=${form} onSubmit=${submit} novalidate>
        <${Field}
          field=${hoursField}
          value=${hours}
          problem=${problem}
          isAlone
          onInput=${(/** @type {InputEvent} */ event) => setHours(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
        />
        <div class="actions">
          <button type="submit" disabled=${hours === ''} aria-disabled=${busy !== undefined}>
            ${busy ? 'Working …' : 'Rotate'}
          </button>
          <${Curl} path="/rotate-endpoint-secret" body=${body} />
        </div>
      </form>
      ${done && html`<${Done}>Webhooks are signed with the new secret from now on.<//><${Secret} secret=${done} />`}
      ${problem === undefined && html`<${Failure} error=${error} />`}
    </section>
  `
}
