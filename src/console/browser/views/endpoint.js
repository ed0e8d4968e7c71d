import { html } from '../preact.js'
import { call } from '../api.js'
import { Code } from '../code.js'
import { isSink } from '../deliveries.js'
import { Actions, Form } from '../forms.js'
import { touchSoon, useLoad } from '../live.js'
import { Badge, Card, Done, Pending } from '../parts.js'
import { link } from '../route.js'
import { hasSinks } from '../service.js'
import { counted } from '../words.js'
import { Candidate, Report } from './certification.js'
import { Health } from './health.js'
import { Sink } from './sink.js'

/** @typedef {import('../types.js').Endpoint} Endpoint */

/** No event tells of a certification's progress or of an accepted probe. */
const LOOK_AGAIN_MS = 2000

export function EndpointView() {
  const loaded = useLoad(
    async (signal) => (await call('/get-endpoint', {}, { signal })).data,
    [],
    () => LOOK_AGAIN_MS,
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

/** What is wrong and what to do first, then actions, then reports. @param {{ endpoint: Endpoint }} props */
function Page({ endpoint }) {
  const { url, candidate, certification, open_deliveries: open } = endpoint
  const isNew = url === null && !candidate
  return html`
    <div class="columns ordered">
      <div class="stack">
        ${url !== null && html`<${Health} endpoint=${endpoint} />`}
        ${candidate && html`<${Candidate} candidate=${candidate} />`}
        ${isNew && html`<${NoEndpoint} waiting=${open} />`}
      </div>
      <aside>
        <${SecretForm}
          title=${url === null ? 'Set your URL' : 'Change the URL'}
          field=${urlField}
          label="Set URL"
          toCall=${(/** @type {string} */ typed) => ({ path: '/set-endpoint', body: { url: typed || urlField.placeholder } })}
        />
        ${
          url !== null &&
          html`<${SecretForm}
            title="Rotate the secret"
            field=${hoursField}
            initial="24"
            label="Rotate"
            toCall=${(/** @type {string} */ typed) => ({ path: '/rotate-endpoint-secret', body: { overlap_hours: Number(typed) } })}
            said="Webhooks are signed with the new secret from now on."
          />`
        }
        ${
          hasSinks &&
          !isSink(url) &&
          !isNew &&
          html`<${Card} id="use-sink" title="No server yet?">
            <p class="hint">${ABOUT_SINK}</p>
            <${Actions} actions=${[useSink]} />
          <//>`
        }
      </aside>
      <div class="stack">
        ${isSink(url) && html`<${Sink} />`}
        ${certification && html`<${Report} certification=${certification} />`}
      </div>
    </div>
  `
}

const ABOUT_SINK =
  'A sink is a test endpoint that we host: it shows the webhooks it receives, and you choose how it answers.'

/** @type {import('../forms.js').Action} */
const useSink = { label: 'Use our sink', path: '/sandbox/use-sink' }

const urlField = {
  name: 'url',
  label: 'URL of your receiver',
  type: 'url',
  placeholder: 'https://lender.example.com/webhooks',
  hint: 'A new URL receives webhooks once it has its secret and is certified.',
}

const hoursField = {
  name: 'overlap_hours',
  label: 'Hours until the previous secret expires',
  type: 'number',
  min: 0,
}

const toUrl = () => /** @type {HTMLElement | null} */ (document.querySelector('input[name=url]'))?.focus()

/** Says that there is no endpoint, with buttons for what to do. @param {{ waiting: number }} props */
const NoEndpoint = ({ waiting }) => html`
  <section class="empty" aria-labelledby="no-endpoint">
    <h2 id="no-endpoint">No endpoint yet</h2>
    <p>
      Your webhooks are held until you have one.
      ${waiting > 0 && html`${' '}Waiting: <a href=${link('live', { states: 'held' })}>${counted(waiting, 'webhook')}</a>.`}
      ${hasSinks && ` ${ABOUT_SINK}`}
    </p>
    ${hasSinks && html`<${Actions} actions=${[{ ...useSink, isFirst: true }]} />`}
    <button type="button" onClick=${toUrl}>Set your URL</button>
  </section>
`

/**
 * One field, and a secret as the answer.
 *
 * @param {{ title: string, field: import('../forms.js').FormField, initial?: string, label: string, toCall: (typed: string) => { path: '/set-endpoint' | '/rotate-endpoint-secret', body: object }, said?: string }} props
 */
function SecretForm({ title, field, initial = '', label, toCall, said }) {
  const callOf = (/** @type {Record<string, string>} */ values) => toCall((values[field.name] ?? '').trim())
  const send = async (/** @type {Record<string, string>} */ values) => {
    const { path, body } = callOf(values)
    const { data } = await call(path, body)
    touchSoon()
    return html`
      ${said && html`<${Done}>${said}<//>`}
      <div role="status">
        <p><strong>Store this secret now.</strong> It is not shown again.</p>
        <${Code} text=${data.secret} label="Signing secret" />
      </div>
    `
  }
  return html`
    <${Card} id=${`set-${field.name}`} title=${title}>
      <${Form}
        fields=${[field]}
        initial=${{ [field.name]: initial }}
        label=${label}
        send=${send}
        toCurl=${callOf}
      />
    <//>
  `
}
