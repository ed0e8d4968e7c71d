import { html, useState } from '../preact.js'
import { call } from '../api.js'
import { touch } from '../live.js'
import { Badge, Failure, useAction } from '../parts.js'
import { styled } from '../styled.js'
import { duration } from '../time.js'
import { Utc } from '../utc.js'
import { counted, words } from '../words.js'
import { Curl } from './curls.js'

await styled('forms.css', 'lists.css')

/** The URL that waits for its certification. @param {{ candidate: any }} props */
export function Candidate({ candidate: { url, requested_at: requested } }) {
  const [accepts, setAccepts] = useState(false)
  const { busy, error, run } = useAction()
  const body = accepts ? { accept_failures: true } : {}
  const certify = () =>
    run('certify', async () => {
      await call('/certify-endpoint', body)
      touch()
    })
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
      <div class="actions">
        <button type="button" class="primary" aria-disabled=${busy !== undefined} onClick=${certify}>
          ${busy ? 'Working …' : 'Certify'}
        </button>
        <${Curl} path="/certify-endpoint" body=${body} />
      </div>
      <${Failure} error=${error} />
    </section>
  `
}

/** @typedef {{ check: string, sent: string, result: string, expected: string, received: string, duration_ms: number | null, hint: string | null }} Check */

/** The report of the latest one. @param {{ certification: any }} props */
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
  const { sent, result, expected, received, duration_ms: ms, hint } = first
  const isOne = group.length === 1
  return html`
    <li>
      <${Badge} state=${result} />
      <span class="check-name">${group.map(({ check }) => words(check)).join(', ')}</span>
      <span
        class=${result === 'passed' ? 'dim figure' : `check-more sentence ${result === 'failed' ? 'bad-line' : 'dim'}`}
        >${received}${isOne && ms !== null && ` · ${duration(ms)}`}</span
      >
      ${isOne && html`<span class="dim check-more">We sent ${sent}, and expected ${expected}.</span>`}
      ${hint && html`<span class="check-more">${hint}</span>`}
    </li>
  `
}
