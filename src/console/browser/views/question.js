import { html, useEffect, useRef } from '../preact.js'
import { styled } from '../styled.js'

await styled('forms.css')

/** @typedef {import('preact').ComponentChildren} Children */

/**
 * Asks before something is done. Nothing else can be done before; then the focus is where it was.
 *
 * @param {{ title: string, keep: string, onKeep: () => void, action: Children, children?: Children }} props
 *   `keep`: the button that does nothing; `action`: the one that does it, and what came of it
 */
export function Question({ title, keep, onKeep, action, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null))
  useEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    return () => shown?.close()
  }, [])
  return html`
    <dialog
      ref=${dialog}
      class="card pad"
      role="alertdialog"
      aria-labelledby="question"
      aria-describedby="question-facts"
      onCancel=${onKeep}
    >
      <h2 id="question">${title}</h2>
      <p id="question-facts">${children}</p>
      <div class="actions"><button type="button" autofocus onClick=${onKeep}>${keep}</button>${action}</div>
    </dialog>
  `
}
