import { html } from '../preact.js'
import { styled } from '../styled.js'

/** @typedef {import('preact').ComponentChildren} Children */

await styled('empty.css')

/** @param {{ title: string, children?: Children, action?: Children }} props */
export const Empty = ({ title, children, action }) => html`
  <div class="empty">
    <h2>${title}</h2>
    <p>${children}</p>
    ${action}
  </div>
`
