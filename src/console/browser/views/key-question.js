import { html, useEffect, useRef } from '../preact.js'
import { shortened } from '../api.js'
import { styled } from '../styled.js'

await styled('forms.css', 'question.css')

/** @typedef {{ own: string, offered: string, onUse: () => void, onKeep: () => void }} Question */

/** Whether to replace the key of this tab with that of a link. Nothing else can be done before. @param {Question} props */
export function KeyQuestion({ own, offered, onUse, onKeep }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null))
  useEffect(() => dialog.current?.showModal(), [])
  // gives the focus back to where it was
  const keep = () => {
    dialog.current?.close()
    onKeep()
  }
  return html`
    <dialog
      ref=${dialog}
      class="card pad"
      role="alertdialog"
      aria-labelledby="key-question"
      aria-describedby="key-facts"
      onCancel=${onKeep}
    >
      <h2 id="key-question">Replace your key?</h2>
      <p id="key-facts">
        The link has another key, <code>${shortened(offered)}</code>, than the one you are signed in with,
        ${' '}<code>${shortened(own)}</code>. Use it only if the link is yours: with it, you see and change
        what is of its partner.
      </p>
      <div class="actions">
        <button type="button" class="primary" autofocus onClick=${keep}>Stay signed in</button>
        <button type="button" onClick=${onUse}>Use the other key</button>
      </div>
    </dialog>
  `
}
