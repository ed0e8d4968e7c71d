import { html, useEffect, useState } from './preact.js'

/**
 * Copies a text. The word changes for a moment, and is read out.
 *
 * @param {{ text: string, label?: string }} props
 */
function Copy({ text, label = 'Copy' }) {
  const [done, setDone] = useState(false)
  useEffect(() => {
    if (!done) return undefined
    const timer = setTimeout(() => setDone(false), 1500)
    return () => clearTimeout(timer)
  }, [done])
  const copy = () => void navigator.clipboard.writeText(text).then(() => setDone(true))
  return html`<button type="button" class="small quiet" aria-live="polite" onClick=${copy}>
    ${done ? 'Copied' : label}
  </button>`
}

/**
 * Text as it is, ready to copy.
 *
 * @param {{ text: string, label: string, copies?: string, isWhole?: boolean }} props
 *   `isWhole`: broken into lines rather than scrolled, for what has to be seen to its end
 */
export const Code = ({ text, label, copies, isWhole = false }) => html`
  <div class=${isWhole ? 'code whole' : 'code'}>
    <div class="code-head"><span>${label}</span><${Copy} text=${copies ?? text} /></div>
    <pre tabindex="0" role="group" aria-label=${label}><code>${text}</code></pre>
  </div>
`

/** JSON that people can read; text that is none stays as it is. @param {string} text */
export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
