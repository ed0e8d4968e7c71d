import { html } from '../preact.js'
import { call } from '../api.js'
import { touch } from '../live.js'
import { Done, Failure, useAction } from '../parts.js'

/** @import { Delivery } from '../types.js' */

/** The attempt follows the answer, and is no event. */
const LOOK_AGAIN_MS = [500, 2000, 5000]

/** Asks for a webhook to be sent once more. @param {string} id its event's */
export async function resendWebhook(id) {
  const { message } = await call('/resend-webhook', { event_id: id })
  touch()
  for (const ms of LOOK_AGAIN_MS) setTimeout(touch, ms)
  return message
}

/** Sends a webhook once more. @param {{ delivery: Delivery }} props */
export function Resend({ delivery }) {
  const { busy, error, done, run } = useAction()
  const resend = () => run('resend', () => resendWebhook(delivery.event_id))
  return html`
    <div class="actions">
      <button type="button" aria-disabled=${busy !== undefined} onClick=${resend}>
        ${delivery.state === 'pending' ? 'Try now' : 'Resend'}
      </button>
    </div>
    ${done && html`<${Done}>${done}<//>`}
    <${Failure} error=${error} />
  `
}
