import { html } from '../preact.js'
import { call } from '../api.js'
import { touch } from '../live.js'
import { Done, Failure, useAction } from '../parts.js'

/** @import { Delivery } from '../lead-records.js' */

/** The attempt follows the answer, and is no event. */
const LOOK_AGAIN_MS = [500, 2000, 5000]

/** Sends a webhook once more. @param {{ delivery: Delivery }} props */
export function Resend({ delivery }) {
  const { busy, error, done, run } = useAction()
  const body = { event_id: delivery.event_id }
  const resend = () =>
    run('resend', async () => {
      const { message } = await call('/resend-webhook', body)
      touch()
      for (const ms of LOOK_AGAIN_MS) setTimeout(touch, ms)
      return message
    })
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
