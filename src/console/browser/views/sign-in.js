import { html, useState } from '../preact.js'
import { call, forgetKey, refuseKey, storeKey } from '../api.js'
import { Failure, useAction } from '../parts.js'
import { styled } from '../styled.js'

await styled('forms.css', 'sign-in.css')

/** @param {{ reason: string, onKey: (key: string) => void }} props */
export function SignIn({ reason, onKey }) {
  const [refusal, setRefusal] = useState(reason)
  const { busy, error, run, clear } = useAction()
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const form = /** @type {HTMLFormElement} */ (event.currentTarget)
    const key = /** @type {string} */ (new FormData(form).get('key')).trim()
    const why = refuseKey(key)
    setRefusal(why)
    if (why !== '') return clear()
    void run('sign in', async () => {
      storeKey(key)
      await call('/get-endpoint').catch((/** @type {unknown} */ failure) => {
        forgetKey()
        throw failure
      })
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
      <form onSubmit=${submit} novalidate>
        <label for="key">Your sandbox key</label>
        <input
          id="key"
          name="key"
          type="password"
          autocomplete="off"
          spellcheck=${false}
          placeholder="prs_test_…"
          aria-describedby="key-help"
          aria-invalid=${refusal === '' ? undefined : 'true'}
          autofocus
        />
        <p id="key-help" class="hint">It stays in this tab and is forgotten when you close it.</p>
        ${refusal !== '' && html`<div class="failure" role="alert"><p>${refusal}</p></div>`}
        <${Failure} error=${error} />
        <button class="primary wide" type="submit" aria-disabled=${busy !== undefined}>
          ${busy === undefined ? 'Sign in' : 'Signing in …'}
        </button>
      </form>
      <p class="hint">No key yet? <code>npm start</code> prints one. <a href="/docs">API reference</a></p>
    </main>
  `
}
