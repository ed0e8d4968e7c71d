import { html } from '../preact.js'
import { ApiFailure, call, forgetKey, KEY_NOT_ACCEPTED, storeKey } from '../api.js'
import { Form } from '../forms.js'
import { refuseKey } from '../keys.js'

const fields = [
  {
    name: 'key',
    label: 'Your sandbox key',
    type: 'password',
    placeholder: 'prs_test_…',
    hint: 'It stays in this tab and is forgotten when you close it.',
    autofocus: true,
  },
]

/** What is wrong with the key, rather than with the way to the API. @param {string} problem */
const refusalOf = (problem) => new ApiFailure(problem, { status: 400, fields: [{ field: 'key', problem }] })

/** @param {{ reason: string, onKey: (key: string) => void }} props */
export function SignIn({ reason, onKey }) {
  const signIn = async (/** @type {{ key?: string }} */ { key: typed = '' }) => {
    const key = typed.trim()
    const why = refuseKey(key)
    if (why !== '') throw refusalOf(why)
    storeKey(key)
    await call('/get-endpoint').catch((/** @type {unknown} */ failure) => {
      forgetKey()
      throw failure instanceof ApiFailure && failure.status === 401 ? refusalOf(KEY_NOT_ACCEPTED) : failure
    })
    onKey(key)
    return null
  }
  return html`
    <main class="sign-in">
      <img src="/console/icon.svg" alt="" width="48" height="48" />
      <h1 tabindex="-1">Partner Referral Service</h1>
      <p class="dim">See your leads, watch every webhook arrive, and try the whole journey in the sandbox.</p>
      <${Form}
        key=${reason}
        fields=${fields}
        label="Sign in"
        send=${signIn}
        refusal=${reason === '' ? undefined : refusalOf(reason)}
        isFirst
      />
      <p class="hint">No key yet? <code>npm start</code> prints one. <a href="/docs">API reference</a></p>
    </main>
  `
}
