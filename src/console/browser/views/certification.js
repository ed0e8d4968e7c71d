import { html, useState } from '../preact.js'
import { call } from '../api.js'
import { touch } from '../live.js'
import { Badge, Curl, Failure, Time, useAction } from '../parts.js'
import { duration } from '../time.js'
import { words } from '../words.js'

/** The URL that waits for its certification, and the report of the latest one. @param {{ endpoint: import('./endpoint.js').Endpoint }} props */
export function Certification({ endpoint: { candidate, certification } }) {
  if (candidate === null && certification === null) return null
  return html`
    <section class="card pad" aria-labelledby="certification">
      <h2 id="certification">Certification</h2>
      ${candidate && html`<${Candidate} candidate=${candidate} />`}
      ${certification && html`<${Report} certification=${certification} />`}
    </section>
  `
}

/** @param {{ candidate: any }} props */
function Candidate({ candidate: { url, state, requested_at: requested, takes_effect_at: effect } }) {
  const [accepts, setAccepts] = useState(false)
  const { busy, error, run } = useAction()
  const body = accepts ? { accept_failures: true } : {}
  const certify = () =>
    run('certify', async () => {
      await call('/certify-endpoint', body)
      touch()
    })
  if (state === 'announced')
    return html`<p><span class="url">${url}</span> takes effect <${Time} at=${effect} />.</p>`
  return html`
    <p class="line">
      <span class="url figure">${url}</span>
      <span class="dim">was set <${Time} at=${requested} />. It receives webhooks once it is certified.</span>
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
  `
}

/** @param {{ certification: any }} props */
const Report = ({ certification: { url, state, requested_at: requested, checks } }) => html`
  <p role="status" class="line">
    <${Badge} state=${state} /> <span class="url figure">${url}</span>
    <span class="dim"><${Time} at=${requested} /></span>
  </p>
  <ol class="checks">
    ${checks.map(
      (/** @type {any} */ { check, sent, result, expected, received, duration_ms: ms, hint }) => html`
        <li key=${check}>
          <${Badge} state=${result} />
          <span class="check-name">${words(check)}</span>
          <span class="dim figure">${received}${ms !== null && ` · ${duration(ms)}`}</span>
          <span class="dim check-more">We sent ${sent}, and expected ${expected}.</span>
          ${hint && html`<span class="hint-line">${hint}</span>`}
        </li>
      `,
    )}
  </ol>
`
