import { html, useEffect, useState } from './preact.js'

/** Copies a text. The word changes for a moment, and is read out. @param {{ text: string }} props */
function Copy({ text }) {
  const [isDone, setDone] = useState(false)
  useEffect(() => {
    const timer = isDone && setTimeout(() => setDone(false), 1500)
    return () => clearTimeout(timer || undefined)
  }, [isDone])
  const copy = () => void navigator.clipboard.writeText(text).then(() => setDone(true))
  return html`<button type="button" class="small quiet" aria-live="polite" onClick=${copy}>
    ${isDone ? 'Copied' : 'Copy'}
  </button>`
}

/** Text as it is, ready to copy. @param {{ text: string, label: string, copies?: string }} props */
export const Code = ({ text, label, copies }) => html`
  <div class="code">
    <div class="code-head"><span>${label}</span><${Copy} text=${copies ?? text} /></div>
    <pre tabindex="0" role="group" aria-label=${label}><code>${text}</code></pre>
  </div>
`

/** @typedef {{ path: string, label?: string, body?: object, headers?: Record<string, string> }} ToCurl */

/** The calls that buttons make, for a terminal. @param {{ calls: ToCurl[] }} props */
export const Curls = ({ calls }) => html`
  <details class="curl">
    <summary>As curl</summary>
    ${calls.map(
      (one) =>
        html`<${Code}
          key=${one.label}
          text=${curl(one)}
          label=${[one.label, `POST /v1${one.path}`].filter(Boolean).join(' · ')}
        />`,
    )}
  </details>
`

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
