import { html } from '../preact.js'
import { Code, Loading } from '../parts.js'

/** @typedef {import('../lead-data.js').Attempt} Attempt */

/** @param {Record<string, string>} headers */
export const linesOf = (headers) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

/**
 * What was sent with an attempt, and what came back. A failure that is the latest is open: it is what one looks for.
 *
 * @param {{ attempt: Attempt, isLast: boolean }} props
 */
export const Exchange = ({ attempt, isLast }) =>
  attempt.duration_ms === null
    ? null
    : html`
        <details class="exchange" open=${isLast && attempt.error_code !== null}>
          <summary>Request and answer</summary>
          <${Sent} headers=${attempt.request_headers} />
          <${Answer} attempt=${attempt} />
        </details>
      `

/** @param {{ headers: Record<string, string> | null }} props */
const Sent = ({ headers }) =>
  headers === null
    ? html`<p class="dim">We were interrupted: whether it was sent is not known.</p>`
    : html`<${Code} text=${linesOf(headers)} label="What we sent" />`

/** @param {{ attempt: Attempt }} props */
function Answer({ attempt: { status, response_headers: headers, response_body: body } }) {
  if (status === null) return html`<p class="dim">Your endpoint sent no response.</p>`
  if (headers === null && body === null)
    return html`<p class="dim">Your endpoint answered ${status}. The rest is deleted by now.</p>`
  return html`
    <${Code}
      text=${[`HTTP ${status}`, linesOf(headers ?? {})].filter(Boolean).join('\n')}
      label="Your response"
    />
    ${body === undefined && html`<${Loading} />`}
    ${(body === '' || body === null) && html`<p class="dim">Its body was empty.</p>`}
    ${body && html`<${Code} text=${body} label="Its body, up to 4 KB" />`}
  `
}
