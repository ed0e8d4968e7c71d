import { html, useState } from '../preact.js'
import { call } from '../api.js'
import { isSink } from '../lead-data.js'
import { useLoad } from '../live.js'
import { Badge, Curl, Done, Failure, Time, useAction } from '../parts.js'
import { duration } from '../time.js'
import { counted, words } from '../words.js'

/** How the sink can be told to answer. */
const answers = [
  { label: 'Accept everything', body: {} },
  { label: 'Fail twice, then succeed', body: { status: 503, times: 2 } },
  { label: 'Always fail', body: { status: 503 } },
  { label: 'Answer 410 Gone', body: { status: 410 } },
  { label: 'Time out', body: { delay_ms: 20_000 } },
]

/** @typedef {{ status?: number, times?: number | null, delay_ms?: number }} Answer */

/** @param {Answer} answer */
const complete = ({ status = 200, times = null, delay_ms: delay = 0 }) => ({ status, times, delay })

/** Whether both are the same answer. @param {Answer} one @param {Answer} other */
const isSame = (one, other) => JSON.stringify(complete(one)) === JSON.stringify(complete(other))

/** @param {number | null} times */
function howMany(times) {
  if (times === null) return ''
  return times === 1 ? ' to the next webhook' : ` to the next ${counted(times, 'webhook')}`
}

/** What the sink answers now, in words. @param {Answer} answer */
function describe(answer) {
  const { status, times, delay } = complete(answer)
  const known = answers.find(({ body }) => isSame(body, answer))
  if (known !== undefined) return known.label
  const after = delay === 0 ? '' : ` after ${duration(delay)}`
  return `Answer ${status}${after}${howMany(times)}`
}

/** The part of an answer that set-sink takes. @param {Answer} answer */
const onlySet = ({ status, times, delay_ms }) => ({ status, ...(times !== null && { times }), delay_ms })

/** Our own endpoint, if the partner uses it: how it answers, and what it received. @param {{ endpoint: import('./endpoint.js').Endpoint }} props */
export function Sink({ endpoint: { url } }) {
  return isSink(url) ? html`<${SinkCard} />` : null
}

function SinkCard() {
  const [chosen, choose] = useState(/** @type {number | undefined} */ (undefined))
  const { busy, error, done, run } = useAction()
  const { data, reload } = useLoad(
    async (signal) => (await call('/sandbox/get-sink', {}, { signal })).data,
    [],
    () => 2000,
  )
  // until another answer is chosen, the one that it gives
  const options =
    data === undefined || answers.some(({ body }) => isSame(body, data))
      ? answers
      : [...answers, { label: describe(data), body: onlySet(data) }]
  const index = chosen ?? options.findIndex(({ body }) => data !== undefined && isSame(body, data))
  const body = options[index]?.body ?? {}
  const set = () =>
    run('set', async () => {
      const { message } = await call('/sandbox/set-sink', body)
      choose(undefined)
      reload()
      return message
    })
  return html`
    <section class="card pad" aria-labelledby="sink">
      <h2 id="sink">Sink</h2>
      <p class="dim">We receive your webhooks here. Make it fail to see retries, ordering and recovery.</p>
      <label
        ><span>How it answers</span>
        <select
          onChange=${(/** @type {Event} */ event) => choose(Number(/** @type {HTMLSelectElement} */ (event.currentTarget).value))}
        >
          ${options.map(({ label }, at) => html`<option value=${at} selected=${at === index}>${label}</option>`)}
        </select>
      </label>
      <div class="actions">
        <button type="button" aria-disabled=${busy !== undefined} onClick=${set}>Set answer</button>
        <${Curl} path="/sandbox/set-sink" body=${body} />
      </div>
      ${done && html`<${Done}>${done}<//>`}
      <${Failure} error=${error} />
      ${data && html`<${Arrivals} webhooks=${data.webhooks} />`}
    </section>
  `
}

/** @param {{ webhooks: any[] }} props */
const Arrivals = ({ webhooks }) => html`
  <h3>Received</h3>
  ${webhooks.length === 0 && html`<p class="dim">Nothing yet. Create a lead, and its first webhook appears here.</p>`}
  <ol class="attempts">
    ${webhooks.slice(0, 10).map(
      ({ event, received_at: at, attempt, verified, problem, status }, index) => html`
        <li key=${`${at}-${index}`}>
          <${Badge}
            state=${verified ? 'accepted' : 'failed'}
            text=${verified ? 'Verified' : 'Not verified'}
          />
          <span>${words(String(event?.type ?? 'Unknown').replaceAll('.', ' '))}</span>
          <span class="dim figure">answered ${status} · attempt ${attempt} · <${Time} at=${at} /></span>
          ${problem && html`<span class="hint-line">${problem}</span>`}
        </li>
      `,
    )}
  </ol>
  ${webhooks.length > 10 && html`<p class="dim">And ${webhooks.length - 10} earlier.</p>`}
`
