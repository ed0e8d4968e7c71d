import { html, useState } from '../preact.js'
import { call } from '../api.js'
import { Code } from '../code.js'
import { outcomeOf, problemOf, reasonOf } from '../deliveries.js'
import { Actions } from '../forms.js'
import { useLoad } from '../live.js'
import { Badge, Done, Pending } from '../parts.js'
import { milestones } from '../service.js'
import { duration, Utc } from '../time.js'
import { words } from '../words.js'

/** @import { Attempt, Delivery, Step } from '../types.js' */

/** A webhook that is opened. @param {{ step: Step, delivery: Delivery }} props */
export function Detail({ step, delivery }) {
  const [number, choose] = useState(/** @type {number | undefined} */ (undefined))
  const { attempts, state } = delivery
  const attempt = attempts.find((made) => made.number === number) ?? attempts.at(-1)
  const meaning = milestones.find(({ name }) => name === step.event_name)?.meaning ?? ''
  return html`
    <div class="event-body">
      <p class="dim">${words(meaning)}. Webhook ${delivery.sequence} of this lead.</p>
      ${state === 'canceled' && html`<p class="dim">This webhook was canceled and cannot be resent.</p>`}
      ${state !== 'canceled' && problemOf(delivery) === null && html`<${Resend} delivery=${delivery} />`}
      ${
        attempt === undefined
          ? html`<p class="dim">No attempt yet.</p>`
          : html`<${Attempts} attempts=${attempts} shown=${attempt} onChoose=${choose} />`
      }
      <div class="exchange">
        ${attempt && html`<${Response} delivery=${delivery} attempt=${attempt} />`}
        <${Request} delivery=${delivery} attempt=${attempt} />
      </div>
      <p class="dim">
        The signature does not match yours?${' '}
        <a href="/docs#description/verify-the-signature">Verify it step by step</a>.
      </p>
    </div>
  `
}

/** Sends a webhook once more. @param {{ delivery: Delivery }} props */
export const Resend = ({ delivery: { event_id: id, state } }) => html`
  <${Actions}
    actions=${[{ label: state === 'pending' ? 'Try now' : 'Resend', path: '/resend-webhook', body: { event_id: id } }]}
    tell=${(/** @type {{ message: string }} */ { message }) => html`<${Done}>${message}<//>`}
  />
`

/** @type {Record<string, string>} */
const reasons = {
  scheduled: 'the schedule',
  resend: 'a resend',
  replay: 'a replay',
  probe: 'a probe of the endpoint',
}

/** The attempts: request and response of the chosen one are shown below. @param {{ attempts: Attempt[], shown: Attempt, onChoose: (number: number) => void }} props */
const Attempts = ({ attempts, shown, onChoose }) => html`
  <div class="card table tries">
    <table>
      <caption class="hidden">
        Attempts
      </caption>
      <thead>
        <tr>
          <th scope="col">Attempt</th>
          <th scope="col">Response</th>
          <th scope="col" class="wide-only">Took</th>
          <th scope="col">Made <small>real time, UTC</small></th>
          <th scope="col" class="wide-only">Because of</th>
        </tr>
      </thead>
      <tbody>
        ${attempts.map(
          (attempt) => html`
            <tr key=${attempt.number} class=${attempt === shown ? 'shown' : ''}>
              <td>
                <button
                  type="button"
                  class="toggle"
                  aria-pressed=${attempt === shown}
                  onClick=${() => onChoose(attempt.number)}
                >
                  ${attempt.number}
                </button>
              </td>
              <td><${Badge} ...${outcomeOf(attempt)} /></td>
              <td class="wide-only">${duration(attempt.duration_ms)}</td>
              <td><${Utc} at=${attempt.started_at} isReal /></td>
              <td class="dim wide-only">${reasons[attempt.trigger] ?? attempt.trigger}</td>
            </tr>
          `,
        )}
      </tbody>
    </table>
  </div>
`

/** @param {object} headers */
const linesOf = (headers) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

/** The request of an attempt; before the first, what all have in common. @param {{ delivery: Delivery, attempt: Attempt | undefined }} props */
function Request({ delivery, attempt }) {
  const sent = attempt?.request_headers
  const headers = sent ?? {
    'webhook-id': delivery.event_id,
    'webhook-timestamp': '(seconds since 1970, of the attempt)',
    'webhook-signature': '(v1,… of the attempt)',
  }
  return html`
    <section>
      <h3>Request</h3>
      ${attempt && html`<p class="url">POST ${attempt.url}</p>`}
      ${attempt && attempt.duration_ms !== null && !sent && html`<p class="dim">The attempt was interrupted. It may not have been sent.</p>`}
      <${Code}
        text=${linesOf({ 'content-type': 'application/json', ...headers })}
        label=${sent ? 'Headers that we sent' : 'Headers of every attempt'}
      />
      <${Code}
        text=${JSON.stringify(JSON.parse(delivery.body), null, 2)}
        copies=${delivery.body}
        label="Body, indented; Copy copies the exact bytes"
      />
    </section>
  `
}

/** What the endpoint answered: its body comes by a call of its own. @param {{ delivery: Delivery, attempt: Attempt }} props */
function Response({ delivery, attempt }) {
  const { event_id: id, attempts } = delivery
  const loaded = useLoad(
    (signal) => call('/get-deliveries', { event_id: id }, { signal }),
    // again when an attempt was added or has ended
    [id, attempts.map(({ duration_ms: ms }) => ms).join()],
  )
  const { duration_ms: ms, url, status, response_headers: headers } = attempt
  const body = loaded.data?.data[0]?.attempts.find(({ number }) => number === attempt.number)?.response_body
  const reason = reasonOf(url, attempt)
  const shown = () => {
    if (ms === null) return html`<p class="dim">The attempt is under way.</p>`
    if (status === null) return html`<p class="dim">Your endpoint sent no response.</p>`
    if (headers === null && body === null)
      return html`<p class="dim">Your endpoint answered ${status}. The rest has been deleted.</p>`
    return html`
      <${Code} text=${`HTTP ${status}\n${linesOf(headers ?? {})}`.trim()} label="Status and headers" />
      ${(body === '' || body === null) && html`<p class="dim">Its body was empty.</p>`}
      ${body && html`<${Code} text=${body} label="Its body, up to 4 KB" />`}
    `
  }
  return html`
    <section>
      <h3>Your response</h3>
      ${reason && reason !== problemOf(delivery) && html`<p class="bad hint sentence">${reason}.</p>`}
      ${shown()}
      <${Pending} of=${loaded} />
    </section>
  `
}
