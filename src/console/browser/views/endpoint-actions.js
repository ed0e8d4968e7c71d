import { html, useState } from '../preact.js'
import { call } from '../api.js'
import { Field, problemOf, problemsOf, useWrongField } from '../fields.js'
import { valueOf } from '../inputs.js'
import { touch } from '../live.js'
import { Code } from '../code.js'
import { Done, Failure, useAction } from '../parts.js'
import { Actions } from './actions.js'
import { Curls } from './curls.js'

/** @typedef {import('./actions.js').Action} Action */

/** @type {Action} */
export const useSink = { label: 'Use our sink', path: '/sandbox/use-sink' }
export const ABOUT_SINK =
  'A sink is a test endpoint that we host: it shows the webhooks it receives, and you choose how it answers.'

/** For those who have no server yet. */
export const OfferSink = () => html`
  <section class="card pad" aria-labelledby="use-sink">
    <h2 id="use-sink">No server yet?</h2>
    <p class="hint">${ABOUT_SINK}</p>
    <${Actions} actions=${[useSink]} />
  </section>
`

/** @param {{ url: string | null }} props the current one */
export const ChangeUrl = ({ url }) => html`
  <${SecretForm}
    title=${url === null ? 'Set your URL' : 'Change the URL'}
    field=${urlField}
    path="/set-endpoint"
    toBody=${(/** @type {string} */ typed) => ({ url: typed || urlField.placeholder })}
    label="Set URL"
  />
`

/** @type {import('../fields.js').FormField} */
const urlField = {
  name: 'url',
  label: 'URL of your receiver',
  type: 'url',
  placeholder: 'https://lender.example.com/webhooks',
  hint: 'A new URL gets webhooks once it has its secret and is certified.',
}

export const Rotate = () => html`
  <${SecretForm}
    title="Rotate the secret"
    field=${hoursField}
    initial="24"
    path="/rotate-endpoint-secret"
    toBody=${(/** @type {string} */ typed) => ({ overlap_hours: Number(typed) })}
    label="Rotate"
    said="Webhooks are signed with the new secret from now on."
  />
`

/** @type {import('../fields.js').FormField} */
const hoursField = { name: 'overlap_hours', label: 'Hours until the previous secret expires', type: 'number' }

/**
 * One field, and a secret as the answer.
 *
 * @param {{ title: string, field: import('../fields.js').FormField, initial?: string, path: '/set-endpoint' | '/rotate-endpoint-secret', toBody: (typed: string) => object, label: string, said?: string }} props
 */
function SecretForm({ title, field, initial = '', path, toBody, label, said }) {
  const [typed, setTyped] = useState(initial)
  const { busy, error, done: secret, run } = useAction()
  const problem = problemOf(problemsOf(error, [field]), field.name)
  const form = useWrongField(error)
  const body = toBody(typed)
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void run('submit', async () => {
      const { data } = await call(path, body)
      touch()
      return data.secret
    })
  }
  return html`
    <section class="card pad" aria-labelledby=${`set-${field.name}`}>
      <h2 id=${`set-${field.name}`}>${title}</h2>
      <form ref=${form} onSubmit=${submit} novalidate>
        <${Field}
          field=${field}
          value=${typed}
          problem=${problem}
          isAlone
          onInput=${(/** @type {Event} */ event) => setTyped(valueOf(event).trim())}
        />
        <div class="actions">
          <button type="submit" disabled=${typed === ''} aria-disabled=${busy !== undefined}>
            ${busy ? 'Working …' : label}
          </button>
          <${Curls} calls=${[{ path, body }]} />
        </div>
      </form>
      ${secret && said && html`<${Done}>${said}<//>`}
      ${
        secret &&
        html`<div role="status">
          <p><strong>Store this secret now.</strong> It is not shown again.</p>
          <${Code} text=${secret} label="Signing secret" isWhole />
        </div>`
      }
      ${problem === undefined && html`<${Failure} error=${error} />`}
    </section>
  `
}
