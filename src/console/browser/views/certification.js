import { html, useState } from '../preact.js'
import { Badge } from '../parts.js'
import { duration } from '../time.js'
import { Utc } from '../utc.js'
import { counted, words } from '../words.js'
import { Actions } from './actions.js'

/** The URL that waits for its certification. @param {{ candidate: import('../types.js').EndpointCandidate }} props */
export function Candidate({ candidate: { url, requested_at: requested } }) {
  const [accepts, setAccepts] = useState(false)
  const body = accepts ? { accept_failures: true } : {}
  return html`
    <section class="card pad" aria-labelledby="candidate">
      <h2 id="candidate">Certify your new URL</h2>
      <p class="url figure">${url}</p>
      <p>
        It receives webhooks once it is certified.${' '}
        <span class="dim">It was set <${Utc} at=${requested} zone help />.</span>
      </p>
      <label class="check">
        <input type="checkbox" checked=${accepts} onChange=${() => setAccepts(!accepts)} />
        <span>Use it even if checks fail (sandbox only)</span>
      </label>
      <${Actions} actions=${[{ label: 'Certify', path: '/certify-endpoint', body, isFirst: true }]} />
    </section>
  `
}

/** @typedef {import('../types.js').CertificationCheck} Check */

/** The report of the latest one. @param {{ certification: import('../types.js').Certification }} props */
export const Report = ({ certification: { url, state, requested_at: requested, checks } }) => html`
  <section class="card pad" aria-labelledby="certification">
    <h2 id="certification">Certification</h2>
    <p role="status" class="line">
      <${Badge} state=${state} /> <span class="url figure">${url}</span>
      <span class="dim"><${Utc} at=${requested} zone help /></span>
    </p>
    ${
      state === 'passed'
        ? html`<details class="more">
            <summary>${counted(checks.length, 'check')}</summary>
            <${Checks} checks=${checks} />
          </details>`
        : html`<${Checks} checks=${checks} />`
    }
  </section>
`

/** @param {{ checks: Check[] }} props */
const Checks = ({ checks }) => html`
  <ol class="checks">
    ${together(checks).map((group) => html`<${Row} key=${group[0]?.check} group=${group} />`)}
  </ol>
`

/**
 * Checks that failed alike, as all do when nothing answers: what is wrong with them is said once.
 *
 * @param {Check[]} checks
 */
function together(checks) {
  /** @type {Map<string, Check[]>} */
  const groups = new Map()
  for (const check of checks) {
    const { result, received, hint } = check
    const key = result === 'passed' ? check.check : JSON.stringify([result, received, hint])
    groups.set(key, [...(groups.get(key) ?? []), check])
  }
  return [...groups.values()]
}

/** @param {{ group: Check[] }} props */
function Row({ group }) {
  const [first] = group
  if (first === undefined) return null
  const { result, received, duration_ms: ms, hint } = first
  const isOne = group.length === 1
  return html`
    <li>
      <${Badge} state=${result} />
      <span class="check-name">${group.map(({ check }) => words(check)).join(', ')}</span>
      <span
        class=${result === 'passed' ? 'dim figure' : `check-more sentence ${result === 'failed' ? 'bad-line' : 'dim'}`}
        >${received}${isOne && ` · ${duration(ms)}`}</span
      >
      ${hint && html`<span class="check-more">${hint}</span>`}
    </li>
  `
}
