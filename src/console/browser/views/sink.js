import { html, useState } from '../preact.js'
import { call } from '../api.js'
import { useLoad } from '../live.js'
import { Done, Failure, Loading, useAction } from '../parts.js'
import { duration } from '../time.js'
import { Utc } from '../utc.js'
import { counted } from '../words.js'
import { Curl } from './curls.js'
import { Arrivals } from './arrivals.js'

/** How the sink can be told to answer. @type {{ label: string, body: Answer }[]} */
const answers = [
  { label: 'Accept everything', body: {} },
  { label: 'Fail twice, then succeed', body: { status: 503, times: 2 } },
  { label: 'Always fail', body: { status: 503 } },
  { label: 'Answer 410 Gone', body: { status: 410 } },
  { label: 'Ask to wait two minutes (429)', body: { status: 429, retry_after: 120 } },
  { label: 'Time out', body: { delay_ms: 20_000 } },
  { label: 'Reset the connection', body: { fault: 'resets' } },
  { label: 'End after half of the answer', body: { fault: 'answers_half' } },
  { label: 'Answer a byte a second', body: { fault: 'answers_slowly' } },
]

/** @typedef {{ status?: number, times?: number | null, delay_ms?: number, fault?: string | null, retry_after?: number | null }} Answer */

/** @param {Answer} answer */
const complete = ({
  status = 200,
  times = null,
  delay_ms: delay = 0,
  fault = null,
  retry_after: after = null,
}) => ({ status, times, delay, fault, after })

/** Whether both are the same answer. @param {Answer} one @param {Answer} other */
const isSame = (one, other) => JSON.stringify(complete(one)) === JSON.stringify(complete(other))

/** Of webhooks that it accepts. @param {number | null} times */
function howMany(times) {
  if (times === null) return ''
  return times === 1 ? ' to the next webhook' : ` to the next ${counted(times, 'webhook')}`
}

/** What the sink answers now, in words, if none of the answers above is it. @param {Answer} answer */
function describe(answer) {
  const { status, times, delay, fault } = complete(answer)
  const named = answers.find(({ body }) => fault !== null && body.fault === fault)
  const after = delay === 0 ? '' : ` after ${duration(delay)}`
  if (status >= 400 && times !== null)
    return `${named?.label ?? `Answer ${status}`}${after}: ${counted(times, 'refusal')} left`
  return `${named?.label ?? `Answer ${status}`}${after}${howMany(times)}`
}

/** The part of an answer that set-sink takes. @param {Answer} answer */
const onlySet = ({ status, times, delay_ms, fault, retry_after: after }) => ({
  status,
  delay_ms,
  ...(times !== null && { times }),
  ...(fault !== null && { fault }),
  ...(after !== null && { retry_after: after }),
})

/** Our own endpoint: how it answers, and what it received. */
export function Sink() {
  const { data, error, reload } = useLoad(
    async (signal) => (await call('/sandbox/get-sink', {}, { signal })).data,
    [],
    () => 2000,
  )
  return html`
    <section class="card pad" aria-labelledby="sink">
      <h2 id="sink">Sink</h2>
      <p class="dim">We receive your webhooks here. Make it fail to see retries, ordering and recovery.</p>
      <${Failure} error=${error} again=${reload} />
      ${data === undefined && error === undefined && html`<${Loading} />`}
      ${data && html`<${SetAnswer} current=${data} reload=${reload} />`}
      ${data && html`<${Arrivals} webhooks=${data.webhooks} />`}
    </section>
  `
}

/** @param {{ current: Answer & { ends_at: string | null }, reload: () => void }} props */
function SetAnswer({ current, reload }) {
  const [chosen, choose] = useState(/** @type {number | undefined} */ (undefined))
  const { busy, error, done, run } = useAction()
  // until another answer is chosen, the one that it gives
  const options = answers.some(({ body }) => isSame(body, current))
    ? answers
    : [...answers, { label: describe(current), body: onlySet(current) }]
  const index = chosen ?? options.findIndex(({ body }) => isSame(body, current))
  const body = options[index]?.body ?? {}
  const set = () =>
    run('set', async () => {
      const { message } = await call('/sandbox/set-sink', body)
      choose(undefined)
      reload()
      return message
    })
  return html`
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
    ${current.ends_at && html`<p class="dim">Until <${Utc} at=${current.ends_at} zone help />, then it accepts everything.</p>`}
    ${done && html`<${Done}>${done}<//>`}
    <${Failure} error=${error} />
  `
}
