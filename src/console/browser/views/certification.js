import { html, useState } from '../preact.js'
import { Actions } from '../forms.js'
import { Badge, Card } from '../parts.js'
import { duration, Utc } from '../time.js'
import { words } from '../words.js'

/** The URL that is to be certified. @param {{ candidate: import('../types.js').EndpointCandidate }} props */
export function Candidate({ candidate: { url, requested_at: requested } }) {
  const [accepts, setAccepts] = useState(false)
  const body = accepts ? { accept_failures: true } : {}
  return html`
    <${Card} id="candidate" title="Certify your new URL">
      <p class="url">${url}</p>
      <p>
        It receives webhooks once it is certified.${' '}
        <span class="dim">It was set at <${Utc} at=${requested} zone help />.</span>
      </p>
      <label>
        <input type="checkbox" checked=${accepts} onChange=${() => setAccepts(!accepts)} />
        Use it even if checks fail (sandbox only)
      </label>
      <${Actions} actions=${[{ label: 'Certify', path: '/certify-endpoint', body, isFirst: true }]} />
    <//>
  `
}

/** The report of the latest certification. @param {{ certification: import('../types.js').Certification }} props */
export const Report = ({ certification: { url, state, requested_at: requested, checks } }) => html`
  <${Card} id="certification" title="Certification">
    <p role="status" class="actions">
      <${Badge} state=${state} /> <span class="url">${url}</span>
      <span class="dim"><${Utc} at=${requested} zone help /></span>
    </p>
    <ol class="list">
      ${checks.map(
        ({ check, result, received, duration_ms: ms, hint }) => html`
          <li key=${check}>
            <${Badge} state=${result} />
            <b>${words(check)}</b>
            <span class=${result === 'failed' ? 'bad' : 'dim'}>${received} · ${duration(ms)}</span>
            ${hint && html`<span class="more">${hint}</span>`}
          </li>
        `,
      )}
    </ol>
  <//>
`
