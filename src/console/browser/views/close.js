import { html, useEffect, useRef, useState } from '../preact.js'
import { call } from '../api.js'
import { touch } from '../live.js'
import { Failure, useAction } from '../parts.js'
import { closeReasons } from '../service.js'
import { styled } from '../styled.js'
import { words } from '../words.js'
import { Curls } from './curls.js'

await styled('question.css')

const PATH = '/close-lead'

/** Closes a lead: for good, so it asks before. @param {{ id: number }} props */
export function Close({ id }) {
  const [reason, choose] = useState(closeReasons[0] ?? '')
  const [isAsked, ask] = useState(false)
  const body = { lead_id: id, reason }
  return html`
    <h3>Close it</h3>
    <label class="menu"
      ><span>Reason</span>
      <select
        value=${reason}
        onChange=${(/** @type {Event} */ event) => choose(/** @type {HTMLSelectElement} */ (event.currentTarget).value)}
      >
        ${closeReasons.map((name) => html`<option value=${name}>${words(name)}</option>`)}
      </select>
    </label>
    <div class="actions"><button type="button" onClick=${() => ask(true)}>Close the lead …</button></div>
    <${Curls} calls=${[{ label: `POST /v1${PATH}`, path: PATH, body }]} />
    ${isAsked && html`<${Question} body=${body} onEnd=${() => ask(false)} />`}
  `
}

/** @param {{ body: { lead_id: number, reason: string }, onEnd: () => void }} props */
function Question({ body, onEnd }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null))
  const { busy, error, run } = useAction()
  useEffect(() => dialog.current?.showModal(), [])
  // gives the focus back to where it was
  const keep = () => {
    dialog.current?.close()
    onEnd()
  }
  const close = () =>
    run('close', async () => {
      await call(PATH, body)
      keep()
      touch()
    })
  return html`
    <dialog
      ref=${dialog}
      class="card pad"
      role="alertdialog"
      aria-labelledby="close-question"
      aria-describedby="close-facts"
      onCancel=${onEnd}
    >
      <h2 id="close-question">Close lead ${body.lead_id}?</h2>
      <p id="close-facts">
        It stays closed: no more milestones are recorded, and its clock stops. Webhooks that wait are still
        sent.
      </p>
      <div class="actions">
        <button type="button" autofocus onClick=${keep}>Keep it open</button>
        <button type="button" class="danger" aria-disabled=${busy !== undefined} onClick=${close}>
          ${busy === undefined ? 'Close the lead' : 'Closing …'}
        </button>
      </div>
      <${Failure} error=${error} />
    </dialog>
  `
}
