import { html } from '../preact.js'
import { shortened } from '../api.js'
import { Question } from './question.js'

/** Whether to replace the key of this tab with that of a link. @param {{ own: string, offered: string, onUse: () => void, onKeep: () => void }} props */
export const KeyQuestion = ({ own, offered, onUse, onKeep }) => html`
  <${Question}
    title="Replace your key?"
    keep="Stay signed in"
    onKeep=${onKeep}
    action=${html`<button type="button" onClick=${onUse}>Use the other key</button>`}
  >
    The link has another key, <code>${shortened(offered)}</code>, than the one you are signed in with,
    ${' '}<code>${shortened(own)}</code>. Use it only if the link is yours: with it, you see and change what
    is of its partner.
  <//>
`
