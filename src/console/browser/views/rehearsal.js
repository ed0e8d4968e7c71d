import { html } from '../preact.js'
import { call } from '../api.js'
import { touch, useLoad } from '../live.js'
import { Badge, Failure, Loading, useAction } from '../parts.js'
import { link } from '../route.js'
import { isSink } from '../sinks.js'
import { styled } from '../styled.js'
import { duration } from '../time.js'
import { Utc } from '../utc.js'
import { counted, words } from '../words.js'
import { Empty } from './empty.js'
import { Curl } from './curls.js'

await styled('forms.css', 'lists.css', 'rehearsal.css')

/** @typedef {{ webhook_id: string, type: string, sequence: number, sent: string | null, status: number | null, duration_ms: number, error_code: string | null }} Sent */
/** @typedef {{ check: string, sent: string, good_receiver: string, look_for: string, lead_id: number, result: string | null, received: string | null, duration_ms: number | null, hint: string | null, requests: Sent[] }} Check */
/** @typedef {{ url: string, state: string, verdict: string | null, requested_at: string, finished_at: string | null, checks: Check[] }} Rehearsal */

const PATH = '/sandbox/rehearse-endpoint'
const SOON_MS = 500

/** @param {AbortSignal} signal @returns {Promise<Rehearsal | null>} `null` if there is none yet */
const load = async (signal) => (await call('/sandbox/get-rehearsal', {}, { signal })).data

export function RehearsalView() {
  const { data, error, reload } = useLoad(load, [], (rehearsal) =>
    rehearsal?.state === 'running' ? SOON_MS : undefined,
  )
  return html`
    <p class="crumb"><a href=${link('endpoint')}>Endpoint</a></p>
    <div class="head">
      <h1 tabindex="-1">Rehearsal</h1>
      ${data && html`<${Badge} state=${data.state} />`}
    </div>
    <p class="rehearsal-lead">
      Your endpoint gets the webhooks of made-up leads, as they come on bad days: repeated, late, cut off,
      unanswered. A good receiver accepts all of them. Nothing else changes.
    </p>
    <${Failure} error=${error} again=${reload} />
    ${data === undefined && error === undefined && html`<${Loading} />`}
    ${data !== undefined && html`<${Start} rehearsal=${data} />`}
    ${data === null && html`<${Empty} title="Not rehearsed yet">It takes about ten seconds.<//>`}
    ${data && html`<${Report} rehearsal=${data} />`}
  `
}

/** @param {{ rehearsal: Rehearsal | null }} props */
function Start({ rehearsal }) {
  const { busy, error, run } = useAction()
  const failed = rehearsal?.checks.filter(({ result }) => result !== 'passed').map(({ check }) => check) ?? []
  const isRunning = busy !== undefined || rehearsal?.state === 'running'
  const isPartly = !isRunning && failed.length > 0 && failed.length < (rehearsal?.checks.length ?? 0)
  const rehearse = (/** @type {object} */ body) =>
    isRunning ||
    run('rehearse', async () => {
      await call(PATH, body)
      touch()
    })
  return html`
    <div class="actions">
      <button type="button" class="primary" aria-disabled=${isRunning} onClick=${() => rehearse({})}>
        ${isRunning ? 'Rehearsing …' : 'Rehearse'}
      </button>
      ${
        isPartly &&
        html`<button type="button" onClick=${() => rehearse({ checks: failed })}>
          Only the ${counted(failed.length, 'check')} that did not pass
        </button>`
      }
      <${Curl} path=${PATH} body=${isPartly ? { checks: failed } : {}} />
    </div>
    <${Failure} error=${error} />
  `
}

/** @param {{ rehearsal: Rehearsal }} props */
const Report = ({ rehearsal: { url, verdict, state, requested_at: at, checks } }) => html`
  <section class="card pad rehearsal" aria-labelledby="verdict">
    <div role="status"><h2 id="verdict">${verdict ?? progress(checks)}</h2></div>
    <p class="line">
      <span class="url figure">${url}</span> <span class="dim"><${Utc} at=${at} zone /></span>
    </p>
    ${isSink(url) && html`<p class="dim">This is our sink, which answers as it is set: rehearse your own receiver, too.</p>`}
    <ol class="checks">
      ${checks.map((each) => html`<${CheckRow} key=${each.check} check=${each} isRunning=${state === 'running'} />`)}
    </ol>
  </section>
`

/** @param {Check[]} checks */
const progress = (checks) =>
  `${checks.filter(({ result }) => result !== null).length} of ${counted(checks.length, 'check')} made`

/** @param {{ check: Check, isRunning: boolean }} props */
function CheckRow({ check, isRunning }) {
  const { sent, good_receiver: good, look_for: look, lead_id: lead, result, received, hint, requests } = check
  const begun = requests.length > 0 && isRunning
  const { badge, text } = result === null ? waiting(begun) : { badge: result, text: undefined }
  return html`
    <li>
      <${Badge} state=${badge} text=${text} />
      <span class="check-name">${words(check.check)}</span>
      <span class="dim figure"
        >${received}${result !== null && requests.length > 0 && ` · ${duration(check.duration_ms)}`}</span
      >
      <span class="check-more"><span class="dim">We send</span> ${sent}.</span>
      <span class="check-more"><span class="dim">A good receiver</span> ${good}.</span>
      ${hint && html`<span class="hint-line">${hint}</span>`}
      ${requests.length > 0 && html`<${Requests} name=${words(check.check)} lead=${lead} look=${result === 'passed' && look} requests=${requests} />`}
    </li>
  `
}

/** @param {boolean} begun */
const waiting = (begun) => ({ badge: begun ? 'running' : 'not_judged', text: begun ? 'Running' : 'To come' })

/** What was sent, and what to look for where we cannot: in the end. @param {{ name: string, lead: number, look: string | false, requests: Sent[] }} props */
const Requests = ({ name, lead, look, requests }) => html`
  <details class="rehearsal-requests">
    <summary>${counted(requests.length, 'request')}${look && ', and what to look for'}</summary>
    <p>
      ${look ? `Your own records should now have, of lead ${lead}: ${look}.` : `They are about lead ${lead}.`}
    </p>
    <div class="table" role="region" aria-label=${`Requests of ${name}`} tabindex="0">
      <table>
        <thead>
          <tr>
            <th scope="col">Webhook</th>
            <th scope="col" class="number">Sequence</th>
            <th scope="col">Response</th>
            <th scope="col" class="number wide-only">Took</th>
          </tr>
        </thead>
        <tbody>
          ${requests.map(
            ({ webhook_id: id, type, sequence, sent, status, duration_ms: ms, error_code: code }) => html`
              <tr>
                <td>
                  ${type}${sent && html`<span class="below dim">${sent}</span>`}
                  <span class="below dim id wide-only">${id}</span>
                </td>
                <td class="number figure">${sequence}</td>
                <td class="figure">${status ?? (code === 'canceled' ? 'Not waited for' : code)}</td>
                <td class="number figure wide-only">${duration(ms)}</td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  </details>
`
