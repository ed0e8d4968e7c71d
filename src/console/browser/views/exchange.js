import { html } from '../preact.js'
import { call } from '../api.js'
import { Code, pretty } from '../code.js'
import { useLoad } from '../live.js'
import { Failure, Loading } from '../parts.js'

/** @import { Attempt, Delivery } from '../types.js' */

/** @param {object} headers */
const linesOf = (headers) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

/** The request of an attempt; before the first, what all have in common. @param {{ delivery: Delivery, attempt: Attempt | undefined }} props */
export function Request({ delivery, attempt }) {
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
      ${attempt && attempt.duration_ms !== null && !sent && html`<p class="dim">We were interrupted: whether it was sent is not known.</p>`}
      <${Code}
        text=${linesOf({ 'content-type': 'application/json', ...headers })}
        label=${sent ? 'Headers that we sent' : 'Headers of every attempt'}
      />
      <${Code}
        text=${pretty(delivery.body)}
        copies=${delivery.body}
        label="Body, indented; Copy copies the exact bytes"
      />
    </section>
  `
}

/** What the endpoint answered: its body comes by a call of its own. @param {{ delivery: Delivery, attempt: Attempt }} props */
export function Response({ delivery, attempt }) {
  const { data, error, reload } = useLoad(
    (signal) => call('/get-deliveries', { event_id: delivery.event_id }, { signal }),
    // again when an attempt was added or has ended
    [delivery.event_id, delivery.attempts.map(({ duration_ms: ms }) => ms).join()],
  )
  const { duration_ms: ms, status, response_headers: headers } = attempt
  const body = data?.data[0]?.attempts.find(({ number }) => number === attempt.number)?.response_body
  const shown = () => {
    if (ms === null) return html`<p class="dim">The attempt is under way.</p>`
    if (status === null) return html`<p class="dim">Your endpoint sent no response.</p>`
    if (headers === null && body === null)
      return html`<p class="dim">Your endpoint answered ${status}. The rest is deleted by now.</p>`
    return html`
      <${Code}
        text=${[`HTTP ${status}`, linesOf(headers ?? {})].filter(Boolean).join('\n')}
        label="Status and headers"
      />
      ${body === undefined && error === undefined && html`<${Loading} />`}
      ${(body === '' || body === null) && html`<p class="dim">Its body was empty.</p>`}
      ${body && html`<${Code} text=${body} label="Its body, up to 4 KB" />`}
    `
  }
  return html`
    <section>
      <h3>Your response</h3>
      ${shown()}
      <${Failure} error=${error} again=${reload} />
    </section>
  `
}
