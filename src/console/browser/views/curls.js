import { html, useState } from '../preact.js'
import { Code } from '../code.js'

/** @typedef {{ path: string, label?: string, body?: object, headers?: Record<string, string> | undefined }} ToCurl */

/** The calls that a group of buttons makes, for a terminal. @param {{ calls: ToCurl[] }} props */
export function Curls({ calls }) {
  const [isOpen, setOpen] = useState(false)
  const toggle = (/** @type {Event} */ event) =>
    setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)
  return html`
    <details class="curl" onToggle=${toggle}>
      <summary>As curl</summary>
      ${
        isOpen &&
        calls.map(
          (one) =>
            html`<${Code}
              key=${one.label}
              text=${curl(one)}
              label=${[one.label, `POST /v1${one.path}`].filter(Boolean).join(' · ')}
            />`,
        )
      }
    </details>
  `
}

/** @param {string} text as one word of a shell */
const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** The key stays out of it, so that it can be shared. @param {ToCurl} call */
function curl({ path, body = {}, headers = {} }) {
  const sent = { 'Content-Type': 'application/json', ...headers }
  return [
    `curl ${location.origin}/v1${path}`,
    '-H "Authorization: Service-Key $KEY"',
    ...Object.entries(sent).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `-d ${quoted(JSON.stringify(body))}`,
  ].join(' \\\n  ')
}
