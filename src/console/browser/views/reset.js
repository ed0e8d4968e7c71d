import { html, useState } from '../preact.js'
import { call } from '../api.js'
import { touch, useLoad } from '../live.js'
import { Badge, Failure, useAction } from '../parts.js'
import { styled } from '../styled.js'
import { Utc } from '../utc.js'
import { counted } from '../words.js'
import { Curl } from './curls.js'

await styled('forms.css', 'sandbox.css', 'question.css')

const PATH = '/sandbox/reset-sandbox'
/** What the API wants to hear, and a person has to type, in any case. */
const WORD = 'reset'

const LOOK_AGAIN_MS = 1000

/** Makes the account as it was with its first key. */
export function Reset() {
  const [typed, type] = useState('')
  const { busy, error, run } = useAction()
  const {
    data,
    error: unread,
    reload,
  } = useLoad(
    async (signal) => (await call('/sandbox/get-reset', {}, { signal })).data,
    [],
    ({ state }) => (state === 'running' ? LOOK_AGAIN_MS : undefined),
  )
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void run('reset', async () => {
      await call(PATH, { confirm: WORD })
      type('')
      touch()
    })
  }
  return html`
    <section class="card pad" aria-labelledby="reset">
      <h2 id="reset">Reset the sandbox</h2>
      <p>
        Erases all your leads, and clears your endpoint with its secrets, your sink, your limits and your
        Idempotency-Keys. Your API keys stay. It cannot be undone.
      </p>
      <form onSubmit=${submit} novalidate>
        <label
          ><span>Type “${WORD}” to confirm</span>
          <input
            name="confirm"
            autocomplete="off"
            autocapitalize="none"
            spellcheck=${false}
            value=${typed}
            onInput=${(/** @type {InputEvent} */ event) => type(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
          />
        </label>
        <div class="actions">
          <button
            type="submit"
            class="danger"
            disabled=${typed.trim().toLowerCase() !== WORD}
            aria-disabled=${busy !== undefined}
          >
            ${busy ? 'Resetting …' : 'Reset the sandbox'}
          </button>
          <${Curl} path=${PATH} body=${{ confirm: WORD }} />
        </div>
      </form>
      <${Failure} error=${error} />
      <${Failure} error=${unread} again=${reload} />
      ${data && data.state !== 'none' && html`<${Latest} reset=${data} />`}
    </section>
  `
}

/** @param {{ reset: any }} props */
const Latest = ({ reset: { state, requested_at: at, leads, leads_left: left, leads_held: held } }) => html`
  <p class="line" role="status">
    <${Badge}
      state=${state === 'running' ? 'running' : 'passed'}
      text=${state === 'running' ? 'Resetting' : 'Done'}
    />
    <span
      >${state === 'running' ? `${counted(left, 'lead')} of ${leads} still to be erased` : `${counted(leads, 'lead')} erased`}</span
    >
    <span class="dim">Reset <${Utc} at=${at} zone help /></span>
  </p>
  ${held > 0 && html`<p class="dim">${counted(held, 'lead')} under a legal hold ${held === 1 ? 'stays' : 'stay'}.</p>`}
`
