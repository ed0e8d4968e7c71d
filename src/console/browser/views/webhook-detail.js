import { html, useState } from '../preact.js'
import { styled } from '../styled.js'
import { problemOf } from '../lead-data.js'
import { useLoad } from '../live.js'
import { Code, pretty } from '../code.js'
import { Failure, Loading } from '../parts.js'
import { link } from '../route.js'
import { loadAnswers, loadArrivals } from '../webhook-data.js'
import { meaningOf, words } from '../words.js'
import { Attempts } from './attempts.js'
import { Curl } from './curls.js'
import { Answer, linesOf } from './exchange.js'
import { Resend } from './resend.js'
import { Verify } from './verify.js'

/** @import { Attempt, Delivery, Step } from '../lead-records.js' */

await styled('forms.css', 'detail.css')

/** A webhook that is opened. @param {{ step: Step, delivery: Delivery }} props */
export function Detail({ step, delivery }) {
  const {
    data: arrivals,
    error,
    reload,
  } = useLoad(
    (signal) => loadArrivals(delivery.event_id, signal),
    // again when an attempt was added or has ended
    [delivery.event_id, delivery.attempts.map(({ duration_ms: ms }) => ms).join()],
  )
  const [number, choose] = useState(/** @type {number | undefined} */ (undefined))
  // typed once for all attempts: it is shown only once
  const [secret, setSecret] = useState('')
  const latest = delivery.attempts.at(-1)
  const attempt = delivery.attempts.find((made) => made.number === number) ?? latest
  const received = arrivals?.find((arrival) => arrival.attempt === attempt?.number)?.headers
  const headers = received ?? attempt?.request_headers ?? undefined
  return html`
    <div class="event-body">
      <p class="dim">
        ${[words(meaningOf(step.event_name)), `Webhook ${delivery.sequence} of this lead`].filter(Boolean).join('. ')}.
      </p>
      <${Again} delivery=${delivery} />
      ${attempt === undefined ? html`<${NotYet} delivery=${delivery} />` : html`<${Attempts} delivery=${delivery} isToSink=${arrivals !== undefined && arrivals.length > 0} shown=${attempt} onChoose=${choose} />`}
      <${Failure} error=${error} again=${reload} />
      <div class="exchange">
        ${attempt !== undefined && html`<${Response} delivery=${delivery} attempt=${attempt} />`}
        <${Request}
          delivery=${delivery}
          headers=${headers}
          isReceived=${received !== undefined}
          isMade=${attempt !== undefined}
        />
      </div>
      <details class="verify">
        <summary>Verify this signature, step by step</summary>
        <${Verify}
          key=${headers?.['webhook-signature']}
          delivery=${delivery}
          headers=${headers}
          secret=${secret}
          onSecret=${setSecret}
        />
      </details>
    </div>
  `
}

/** @param {{ delivery: Delivery }} props */
const NotYet = ({ delivery: { state } }) => html`
  <p class="dim">
    No attempt
    yet.${state === 'held' && html` Resume <a href=${link('endpoint')}>your endpoint</a> to send this webhook.`}
  </p>
`

/** Where it fails, the button is above, without its call. @param {{ delivery: Delivery }} props */
function Again({ delivery }) {
  if (delivery.state === 'canceled')
    return html`<p class="dim">This webhook was canceled and cannot be resent.</p>`
  return html`
    ${problemOf(delivery) === undefined && html`<${Resend} delivery=${delivery} />`}
    <${Curl} path="/resend-webhook" body=${{ event_id: delivery.event_id }} />
  `
}

/**
 * The very request: as our sink received it, or as it was sent; before the first attempt, what all have in common.
 *
 * @param {{ delivery: Delivery, headers: Record<string, string> | undefined, isReceived: boolean, isMade: boolean }} props
 */
function Request({ delivery, headers: known, isReceived, isMade }) {
  const headers = known ?? {
    'webhook-id': delivery.event_id,
    'webhook-timestamp': '(seconds since 1970, of the attempt)',
    'webhook-signature': '(v1,… of the attempt)',
  }
  const all = Object.entries({ 'content-type': 'application/json', ...headers })
  const shown = all.filter(([name]) => /^webhook-|^content-type$|^user-agent$/.test(name))
  const sent = known ? 'Headers that we sent' : 'Headers of every attempt'
  return html`
    <section>
      <h3>Request</h3>
      ${isMade && !known && html`<p class="dim">We were interrupted: whether it was sent is not known.</p>`}
      <${Code}
        text=${linesOf(Object.fromEntries(shown))}
        label=${isReceived ? 'Headers, as your sink received them' : sent}
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
function Response({ delivery, attempt }) {
  const {
    data: answers,
    error,
    reload,
  } = useLoad(
    (signal) => loadAnswers(delivery.event_id, signal),
    [delivery.event_id, delivery.attempts.map(({ duration_ms: ms }) => ms).join()],
  )
  const body = answers?.find(({ number }) => number === attempt.number)?.response_body
  return html`
    <section>
      <h3>Your response</h3>
      ${body !== undefined && html`<${Failure} error=${error} again=${reload} />`}
      <${Answer} attempt=${{ ...attempt, response_body: body }}>
        ${error === undefined ? html`<${Loading} />` : html`<${Failure} error=${error} again=${reload} />`}
      <//>
    </section>
  `
}
