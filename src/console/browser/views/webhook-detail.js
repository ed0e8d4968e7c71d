import { html } from '../preact.js'
import { call } from '../api.js'
import { loadAnswers, loadArrivals, outcomeOf } from '../lead-data.js'
import { touch, useLoad } from '../live.js'
import { Badge, Code, Curl, Done, Failure, pretty, Time, useAction } from '../parts.js'
import { link } from '../route.js'
import { duration } from '../time.js'
import { meaningOf, words } from '../words.js'
import { Exchange, linesOf } from './exchange.js'
import { Verify } from './verify.js'

/** @typedef {import('../lead-data.js').Delivery} Delivery */

/** A webhook that is opened. @param {{ step: import('../lead-data.js').Step, delivery: Delivery }} props */
export function Detail({ step, delivery }) {
  const { data, error, reload } = useLoad(
    (signal) => loadArrivals(delivery.event_id, signal),
    [delivery.event_id],
  )
  const { data: answers, error: notRead } = useLoad(
    (signal) => loadAnswers(delivery.event_id, signal),
    // again when an attempt was added or has ended
    [delivery.event_id, delivery.attempts.map(({ duration_ms: ms }) => ms).join()],
  )
  const received = data?.at(-1)?.headers
  const headers = received ?? delivery.attempts.findLast((made) => made.request_headers)?.request_headers
  return html`
    <div class="event-body">
      <p class="dim">${words(meaningOf(step.event_name))}. Webhook ${delivery.sequence} of this lead.</p>
      <h3>Attempts</h3>
      <${Failure} error=${notRead} />
      <${Attempts} delivery=${delivery} answers=${answers ?? []} />
      <${Resend} delivery=${delivery} />
      <h3>Request</h3>
      <${Failure} error=${error} again=${reload} />
      <${Request} delivery=${delivery} headers=${headers} isReceived=${received !== undefined} />
      <details class="verify">
        <summary>Verify this signature, step by step</summary>
        <${Verify}
          key=${headers?.['webhook-signature']}
          delivery=${delivery}
          headers=${headers ?? undefined}
        />
      </details>
    </div>
  `
}

/** @param {{ delivery: Delivery, answers: import('../lead-data.js').Attempt[] }} props */
function Attempts({ delivery: { attempts, state, next_attempt_at: next }, answers }) {
  const held =
    state === 'held' && html` Resume <a href=${link('endpoint')}>your endpoint</a> to send this webhook.`
  if (attempts.length === 0) return html`<p class="dim">None yet.${held}</p>`
  return html`
    <ol class="attempts">
      ${attempts.map(
        (attempt) => html`
          <li key=${attempt.number}>
            <span class="attempt-number">${attempt.number}</span>
            <${Badge} ...${outcomeOf(attempt)} />
            <span class="figure">${duration(attempt.duration_ms)}</span>
            <span class="dim"><${Time} at=${attempt.started_at} as="past" />${trigger(attempt.trigger)}</span>
            ${attempt.hint && html`<span class="hint-line">${attempt.hint}</span>`}
            <${Exchange}
              attempt=${{ ...attempt, response_body: answers.find(({ number }) => number === attempt.number)?.response_body }}
              isLast=${attempt === attempts.at(-1)}
            />
          </li>
        `,
      )}
    </ol>
    ${held && html`<p class="dim">${held}</p>`}
    ${next && html`<p class="dim">Next attempt <${Time} at=${next} />.</p>`}
  `
}

/** @param {string} name */
const trigger = (name) => (name === 'scheduled' ? '' : ` · ${name}`)

/** @param {{ delivery: Delivery }} props */
function Resend({ delivery }) {
  const { busy, error, done, run } = useAction()
  const body = { event_id: delivery.event_id }
  const resend = () =>
    run('resend', async () => {
      const { message } = await call('/resend-webhook', body)
      touch()
      return message
    })
  if (delivery.state === 'canceled')
    return html`<p class="dim">This webhook was canceled and cannot be resent.</p>`
  return html`
    <div class="actions">
      <button type="button" aria-disabled=${busy !== undefined} onClick=${resend}>
        ${delivery.state === 'pending' ? 'Try now' : 'Resend'}
      </button>
      <${Curl} path="/resend-webhook" body=${body} />
    </div>
    ${done && html`<${Done}>${done}<//>`}
    <${Failure} error=${error} />
  `
}

/**
 * The very request: as our sink received it, or as it was sent; before the first attempt, what all have in common.
 *
 * @param {{ delivery: Delivery, headers: Record<string, string> | null | undefined, isReceived: boolean }} props
 */
function Request({ delivery, headers: known, isReceived }) {
  const headers = known ?? {
    'webhook-id': delivery.event_id,
    'webhook-timestamp': '(seconds since 1970, of the attempt)',
    'webhook-signature': '(v1,… of the attempt)',
  }
  const all = { 'content-type': 'application/json', ...headers }
  const shown = Object.entries(all).filter(([name]) => /^webhook-|^content-type$|^user-agent$/.test(name))
  const sent = known ? 'Headers of the latest attempt' : 'Headers'
  return html`
    <${Code}
      text=${linesOf(Object.fromEntries(shown))}
      label=${isReceived ? 'Headers, as your sink received them' : sent}
    />
    <${Code}
      text=${pretty(delivery.body)}
      copies=${delivery.body}
      label="Body, indented; Copy copies the exact bytes"
    />
  `
}
