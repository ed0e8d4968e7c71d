import { html, useState } from '../preact.js'
import { Lazy } from '../lazy.js'

/** @typedef {{ label: string, path: string, body?: object, headers?: Record<string, string> | undefined }} ToCurl */

const load = async () => (await import('./calls.js')).Calls

/**
 * The calls that a group of buttons makes, for a terminal.
 *
 * @param {{ calls: ToCurl[] }} props
 */
export function Curls({ calls }) {
  const [isOpen, setOpen] = useState(false)
  const toggle = (/** @type {Event} */ event) =>
    setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)
  return html`
    <details class="curl" onToggle=${toggle}>
      <summary>As curl</summary>
      ${isOpen && html`<${Lazy} load=${load} calls=${calls} />`}
    </details>
  `
}

/** The call of one button. @param {{ path: string, body?: object }} props */
export const Curl = ({ path, body = {} }) =>
  html`<${Curls} calls=${[{ label: `POST /v1${path}`, path, body }]} />`
