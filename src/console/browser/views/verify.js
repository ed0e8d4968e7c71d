import { html, useState } from '../preact.js'
import { Code } from '../code.js'
import { Field } from '../forms.js'

/** The length of the service's signing secrets, in bytes. */
const SECRET_BYTES = 32

/** @param {string} secret as `whsec_…` */
function bytesOf(secret) {
  const [, base64 = ''] = /^whsec_([\w+/]+=*)$/.exec(secret.trim()) ?? []
  try {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
    if (bytes.length === SECRET_BYTES) return bytes
  } catch {
    // no base64
  }
  throw new Error('This is not a complete signing secret, which is whsec_ and 44 characters of base64.')
}

/**
 * The signature that a request must have, as in Standard Webhooks. The secret stays in this tab.
 *
 * @param {string} secret
 * @param {string} content `{id}.{timestamp}.{body}`
 * @returns {Promise<string>} `v1,…`
 * @throws {Error} with a sentence, when the secret is none
 */
async function sign(secret, content) {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytesOf(secret), algorithm, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(content))
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`
}

/**
 * How to verify the signature of this very webhook, with the partner's secret.
 *
 * @param {{ delivery: import('../types.js').Delivery, headers: Record<string, string> | undefined, secret: string, onSecret: (value: string) => void }} props `headers` of the attempt, where they are known
 */
export function Verify({ delivery, headers = {}, secret, onSecret }) {
  const [timestamp, setTimestamp] = useState(headers['webhook-timestamp'] ?? '')
  const [signature, setSignature] = useState(headers['webhook-signature'] ?? '')
  const [checked, setChecked] = useState(
    /** @type {{ of?: string, expected?: string, error?: string }} */ ({}),
  )
  const { sequence } = delivery
  const content = `${delivery.event_id}.${timestamp}.${delivery.body}`
  const current = JSON.stringify({ secret, content, signature })
  const check = () =>
    sign(secret, content).then(
      (expected) => setChecked({ of: current, expected }),
      (/** @type {unknown} */ error) =>
        setChecked({ of: current, error: /** @type {Error} */ (error).message }),
    )
  // says nothing of what was typed since
  const { expected, error } = checked.of === current ? checked : {}
  const isMatch = expected !== undefined && signature.split(' ').includes(expected)
  return html`
    <ol class="steps">
      <li>
        <p>
          <strong>Take the raw body</strong>, before anything parses it, and two headers of the request. These
          are of the attempt that is chosen above.
        </p>
        <div class="fields">
          <${Field}
            name=${`timestamp-${sequence}`}
            label="webhook-timestamp"
            value=${timestamp}
            onValue=${setTimestamp}
          />
          <${Field}
            name=${`signature-${sequence}`}
            label="webhook-signature"
            value=${signature}
            onValue=${setSignature}
          />
        </div>
      </li>
      <li>
        <p><strong>Join</strong> id, timestamp and body with full stops. This is the signed content:</p>
        <${Code} text=${content} label="Signed content" />
      </li>
      <li>
        <p>
          <strong>Sign it</strong> with HMAC-SHA256. The key is your secret without <code>whsec_</code>,
          decoded from base64.
        </p>
        <div class="fields">
          <${Field}
            name=${`secret-${sequence}`}
            label="Your signing secret"
            type="password"
            value=${secret}
            onValue=${onSecret}
            placeholder="whsec_…"
          />
          <button type="button" disabled=${secret === ''} onClick=${check}>Verify</button>
        </div>
        <p class="hint">The secret never leaves this tab. Lost it? Rotate it on the Endpoint page.</p>
        ${error && html`<p class="bad" role="alert">${error}</p>`}
        ${
          expected &&
          html`<div role="status">
            <${Code} text=${expected} label="Expected signature" />
            ${
              isMatch
                ? html`<p class="good">It matches: the signature is valid.</p>`
                : html`<p class="bad">
                    It does not match. Check the secret, the timestamp and the signature.
                  </p>`
            }
          </div>`
        }
      </li>
      <li>
        <p>
          <strong>Compare</strong> in constant time with each signature in the header, and refuse a timestamp
          more than five minutes from your clock.
          <a href="/docs#description/verify-the-signature">See it as code</a>
        </p>
      </li>
    </ol>
  `
}
