/** Signatures of Standard Webhooks: base64 of HMAC-SHA256 over `{id}.{timestamp}.{body}`. */

/** The length of the service's signing secrets, in bytes. */
const SECRET_BYTES = 32

/** @param {string} base64 */
const bytesOf = (base64) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))

/**
 * The signature that a request must have. The secret stays in this tab.
 *
 * @param {{ secret: string, id: string, timestamp: string, body: string }} request `secret` as `whsec_…`
 * @returns {Promise<string>} `v1,…`
 * @throws {Error} with a sentence, when the secret is none
 */
export async function sign({ secret, id, timestamp, body }) {
  const bytes = secretBytes(secret)
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const signed = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`${id}.${timestamp}.${body}`))
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(signed)))}`
}

/** @param {string} secret */
function secretBytes(secret) {
  const [, base64 = ''] = /^whsec_([\w+/]+=*)$/.exec(secret.trim()) ?? []
  let bytes
  try {
    bytes = bytesOf(base64)
  } catch {
    bytes = new Uint8Array()
  }
  if (bytes.length !== SECRET_BYTES)
    throw new Error('This is not a whole signing secret: it is whsec_ and 44 characters of base64.')
  return bytes
}

/** @param {string} text as one word of a shell */
const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** @typedef {{ id: string, timestamp: string, signature: string, body: string }} Received */

/** The same check, as code for a request that is at hand. @type {Record<string, (received: Received) => string>} */
export const recipes = {
  Shell: ({ id, timestamp, body }) => `SECRET=whsec_…
printf %s ${quoted(`${id}.${timestamp}.${body}`)} |
  openssl dgst -sha256 -mac HMAC -binary \\
    -macopt hexkey:$(printf %s "\${SECRET#whsec_}" | base64 -d | od -An -tx1 | tr -d ' \\n') |
  base64`,
  'Node.js': ({
    id,
    timestamp,
    signature,
    body,
  }) => `import { createHmac, timingSafeEqual } from 'node:crypto'

const secret = Buffer.from(process.env.WEBHOOK_SECRET.replace('whsec_', ''), 'base64')
const id = ${JSON.stringify(id)}
const timestamp = ${JSON.stringify(timestamp)}
const signature = ${JSON.stringify(signature)}
const body = ${JSON.stringify(body)}

const expected = createHmac('sha256', secret).update(\`\${id}.\${timestamp}.\${body}\`).digest()
const isValid = signature.split(' ').some((one) => {
  const given = Buffer.from(one.replace('v1,', ''), 'base64')
  return given.length === expected.length && timingSafeEqual(given, expected)
})
console.log(isValid)`,
  Python: ({ id, timestamp, signature, body }) => `import base64, hashlib, hmac, os

secret = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
id = ${JSON.stringify(id)}
timestamp = ${JSON.stringify(timestamp)}
signature = ${JSON.stringify(signature)}
body = ${JSON.stringify(body)}

signed = f"{id}.{timestamp}.{body}".encode()
expected = base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
print(any(hmac.compare_digest(one, f"v1,{expected}") for one in signature.split()))`,
}
