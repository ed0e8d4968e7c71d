import { html, useState } from '../preact.js'
import { Code } from '../code.js'
import { Input } from '../inputs.js'
import { recipes, sign } from '../signature.js'
import { parseTime } from '../time.js'

/** @typedef {{ expected: string, isMatch: boolean | undefined }} Verdict */
/** @typedef {{ of: string, verdict?: Verdict, error?: Error }} Checked `of`: what was checked */

/**
 * How to verify the signature of this very webhook, with the partner's secret or by its own code.
 *
 * @param {{ delivery: import('../types.js').Delivery, headers: Record<string, string> | undefined, secret: string, onSecret: (value: string) => void }} props `headers` of the attempt, where they are known
 */
export function Verify({ delivery, headers, secret, onSecret }) {
  const started = delivery.attempts.at(-1)?.started_at
  const [timestamp, setTimestamp] = useState(
    headers?.['webhook-timestamp'] ?? (started ? String(parseTime(started).getTime() / 1000) : ''),
  )
  const [signature, setSignature] = useState(headers?.['webhook-signature'] ?? '')
  const received = { id: delivery.event_id, timestamp, signature, body: delivery.body }
  return html`
    <ol class="steps">
      <li>
        <p><strong>Take the raw body</strong>, before anything parses it, and two headers of the request.</p>
        ${
          headers === undefined
            ? html`<p class="dim">
                Your endpoint has them: copy both from its log. The time below is when we began the attempt.
              </p>`
            : html`<p class="dim">These are of the attempt above. To check another one, choose it there.</p>`
        }
        <div class="fields">
          <${Input} label="webhook-timestamp" value=${timestamp} onValue=${setTimestamp} />
          <${Input} label="webhook-signature" value=${signature} onValue=${setSignature} placeholder="v1,…" />
        </div>
      </li>
      <li>
        <p><strong>Join them</strong> with the id by full stops. This is what is signed:</p>
        <${Code} text=${`${received.id}.${timestamp}.${received.body}`} label="Signed content" />
      </li>
      <li>
        <p>
          <strong>Sign it</strong> with HMAC-SHA256 and your secret, decoded from base64
          after${' '}<code>whsec_</code>.
        </p>
        <${Check} received=${received} secret=${secret} onSecret=${onSecret} />
      </li>
      <li>
        <p>
          <strong>Compare</strong> in constant time with each signature in the header, and refuse a timestamp
          more than five minutes from your clock.
        </p>
        <${Recipes} received=${received} />
      </li>
    </ol>
  `
}

/** @param {{ received: import('../signature.js').Received, secret: string, onSecret: (value: string) => void }} props */
function Check({ received, secret, onSecret }) {
  const [checked, setChecked] = useState(/** @type {Checked | undefined} */ (undefined))
  const current = JSON.stringify({ secret, ...received })
  const check = async () => {
    try {
      const expected = await sign({ secret, ...received })
      const given = received.signature.split(' ').filter(Boolean)
      const isMatch = given.length === 0 ? undefined : given.includes(expected)
      setChecked({ of: current, verdict: { expected, isMatch } })
    } catch (error) {
      setChecked({ of: current, error: /** @type {Error} */ (error) })
    }
  }
  // says nothing of what was typed since
  const { verdict, error } = checked?.of === current ? checked : {}
  return html`
    <div class="fields">
      <${Input}
        label="Your signing secret"
        type="password"
        value=${secret}
        onValue=${onSecret}
        placeholder="whsec_…"
      />
      <button type="button" disabled=${secret === ''} onClick=${check}>Verify</button>
    </div>
    <p class="hint">The secret never leaves this tab. Lost it? Rotate it on the Endpoint page.</p>
    ${error && html`<p class="bad-line" role="alert">${error.message}</p>`}
    ${verdict && html`<${Result} verdict=${verdict} />`}
  `
}

/** @param {{ verdict: Verdict }} props */
const Result = ({ verdict: { expected, isMatch } }) => html`
  <div role="status">
    <${Code} text=${expected} label="Expected signature" />
    ${isMatch === true && html`<p class="good-line">It matches: the signature is valid.</p>`}
    ${isMatch === false && html`<p class="bad-line">It does not match: check the secret, the timestamp, the body and the signature.</p>`}
  </div>
`

/** @param {{ received: import('../signature.js').Received }} props */
function Recipes({ received }) {
  const [chosen, choose] = useState('Shell')
  const names = Object.keys(recipes)
  return html`
    <div class="choice" role="group" aria-label="Language">
      ${names.map(
        (name) =>
          html`<button
            type="button"
            class="small"
            aria-pressed=${name === chosen}
            onClick=${() => choose(name)}
          >
            ${name}
          </button>`,
      )}
    </div>
    <${Code} text=${recipes[chosen]?.(received) ?? ''} label=${`Verify in ${chosen}`} />
  `
}
