import { html } from '../preact.js'
import { shortened } from '../api.js'

/** @typedef {{ own: string, offered: string, onUse: () => void, onKeep: () => void }} Question */

/** Whether to replace the key of this tab with that of a link. @param {Question} props */
export function KeyQuestion({ own, offered, onUse, onKeep }) {
  return html`
    <div
      class="failure"
      role="alertdialog"
      aria-labelledby="key-question"
      style=${{ marginBottom: '1.5rem' }}
    >
      <p id="key-question">
        The link has another key, <code>${shortened(offered)}</code>, than the one you are signed in with,
        ${' '}<code>${shortened(own)}</code>. Use it only if the link is yours: with it, you see and change
        what is of its partner.
      </p>
      <div class="actions">
        <button type="button" class="primary" onClick=${onKeep} autofocus>Stay signed in</button>
        <button type="button" onClick=${onUse}>Use the other key</button>
      </div>
    </div>
  `
}
