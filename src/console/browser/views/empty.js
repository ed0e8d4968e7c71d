import { html } from '../preact.js'

/** @typedef {import('preact').ComponentChildren} Children */

/** @param {{ title: string, children?: Children, action?: Children }} props */
export const Empty = ({ title, children, action }) => html`
  <div class="empty">
    <h2>${title}</h2>
    <p>${children}</p>
    ${action}
  </div>
`
