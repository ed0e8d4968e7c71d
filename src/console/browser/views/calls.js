import { html } from '../preact.js'
import { Code } from '../code.js'

/** Calls for a terminal. @param {{ calls: import('./curls.js').ToCurl[] }} props */
export const Calls = ({ calls }) =>
  calls.map(
    ({ label, path, body = {}, headers }) =>
      html`<${Code} key=${label} text=${curl(path, body, headers)} label=${label} />`,
  )

/**
 * The same call for a terminal. The key stays out of it, so that it can be shared.
 *
 * @param {string} path
 * @param {object} body
 * @param {Record<string, string>} [headers]
 */
function curl(path, body, headers = {}) {
  const json = JSON.stringify(body).replaceAll("'", String.raw`'\''`)
  const more = Object.entries(headers)
    .map(([name, value]) => `\n  -H '${name}: ${value.replaceAll("'", String.raw`'\''`)}' \\`)
    .join('')
  return `curl ${location.origin}/v1${path} \\
  -H "Authorization: Service-Key $KEY" \\
  -H 'Content-Type: application/json' \\${more}
  -d '${json}'`
}
