import { html, useState } from '../preact.js'
import { ApiFailure, call, forgetKey, KEY_NOT_ACCEPTED, storeKey } from '../api.js'
import { Field, useWrongField } from '../fields.js'
import { valueOf } from '../inputs.js'
import { refuseKey } from '../keys.js'
import { Failure, useAction } from '../parts.js'
import { styled } from '../styled.js'

await styled('forms.css')

/** @type {import('../fields.js').FormField} */
const field = {
  name: 'key',
  label: 'Your sandbox key',
  type: 'password',
  placeholder: 'prs_test_…',
  hint: 'It stays in this tab and is forgotten when you close it.',
  isFocused: true,
}

/** What is wrong with the key, rather than with the way to the API. */
class KeyRefusal extends Error {}

/** @param {string} key */
async function tryKey(key) {
  const why = refuseKey(key)
  if (why !== '') throw new KeyRefusal(why)
  storeKey(key)
  await call('/get-endpoint').catch((/** @type {unknown} */ failure) => {
    forgetKey()
    const isUnknown = failure instanceof ApiFailure && failure.status === 401
    throw isUnknown ? new KeyRefusal(KEY_NOT_ACCEPTED) : failure
  })
}

/** @param {{ reason: string, onKey: (key: string) => void }} props */
export function SignIn({ reason, onKey }) {
  const [typed, setTyped] = useState('')
  const [earlier, setEarlier] = useState(reason)
  const { busy, error, run } = useAction()
  const isOfKey = error instanceof KeyRefusal
  const form = useWrongField(error)
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    setEarlier('')
    void run('sign in', async () => {
      const key = typed.trim()
      await tryKey(key)
      onKey(key)
    })
  }
  return html`
    <main class="sign-in">
      <img src="/console/icon.svg" alt="" width="48" height="48" />
      <h1 tabindex="-1">Partner Referral Service</h1>
      <p class="lead">
        See your leads, watch every webhook arrive, and try the whole journey in the sandbox.
      </p>
      <form ref=${form} onSubmit=${submit} novalidate>
        <${Field}
          field=${field}
          value=${typed}
          problem=${isOfKey ? error.message : earlier || undefined}
          isAlone
          onInput=${(/** @type {Event} */ event) => setTyped(valueOf(event))}
        />
        ${!isOfKey && html`<${Failure} error=${error} />`}
        <button class="primary wide" type="submit" aria-disabled=${busy !== undefined}>
          ${busy === undefined ? 'Sign in' : 'Signing in …'}
        </button>
      </form>
      <p class="hint">No key yet? <code>npm start</code> prints one. <a href="/docs">API reference</a></p>
    </main>
  `
}
