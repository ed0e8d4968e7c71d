import { html, useState } from '../preact.js'
import { styled } from '../styled.js'
import { problemOf } from '../lead-data.js'
import { link } from '../route.js'
import { meaningOf, words } from '../words.js'
import { Attempts } from './attempts.js'
import { Curls } from './curls.js'
import { Request, Response } from './exchange.js'
import { Resend } from './resend.js'
import { Verify } from './verify.js'

/** @import { Delivery, Step } from '../types.js' */

await styled('forms.css', 'detail.css')

/** A webhook that is opened. @param {{ step: Step, delivery: Delivery }} props */
export function Detail({ step, delivery }) {
  const [number, choose] = useState(/** @type {number | undefined} */ (undefined))
  // typed once for all attempts: it is shown only once
  const [secret, setSecret] = useState('')
  const attempt = delivery.attempts.find((made) => made.number === number) ?? delivery.attempts.at(-1)
  const headers = attempt?.request_headers ?? undefined
  return html`
    <div class="event-body">
      <p class="dim">
        ${[words(meaningOf(step.event_name)), `Webhook ${delivery.sequence} of this lead`].filter(Boolean).join('. ')}.
      </p>
      <${Again} delivery=${delivery} />
      ${
        attempt === undefined
          ? html`<${NotYet} delivery=${delivery} />`
          : html`<${Attempts} delivery=${delivery} shown=${attempt} onChoose=${choose} />`
      }
      <div class="exchange">
        ${attempt !== undefined && html`<${Response} delivery=${delivery} attempt=${attempt} />`}
        <${Request} delivery=${delivery} attempt=${attempt} />
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
    <${Curls} calls=${[{ path: '/resend-webhook', body: { event_id: delivery.event_id } }]} />
  `
}
