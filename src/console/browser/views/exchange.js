import { html } from '../preact.js'
import { Code } from '../code.js'

/** @import { Attempt } from '../lead-records.js' */

/** @param {Record<string, string>} headers */
export const linesOf = (headers) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

/**
 * What came back for an attempt.
 *
 * @param {{ attempt: Attempt, children?: import('preact').ComponentChildren }} props `children`: in place of a body that is not known yet
 */
export function Answer({ attempt, children }) {
  const { status, duration_ms: ms, response_headers: headers, response_body: body } = attempt
  if (ms === null) return html`<p class="dim">The attempt is under way.</p>`
  if (status === null) return html`<p class="dim">Your endpoint sent no response.</p>`
  if (headers === null && body === null)
    return html`<p class="dim">Your endpoint answered ${status}. The rest is deleted by now.</p>`
  return html`
    <${Code}
      text=${[`HTTP ${status}`, linesOf(headers ?? {})].filter(Boolean).join('\n')}
      label="Status and headers"
    />
    ${body === undefined && children}
    ${(body === '' || body === null) && html`<p class="dim">Its body was empty.</p>`}
    ${body && html`<${Code} text=${body} label="Its body, up to 4 KB" />`}
  `
}
