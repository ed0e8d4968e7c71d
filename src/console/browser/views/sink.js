import { html, useState } from '../preact.js'
import { call } from '../api.js'
import { Select } from '../inputs.js'
import { useLoad } from '../live.js'
import { Done, Pending } from '../parts.js'
import { duration } from '../time.js'
import { counted } from '../words.js'
import { Actions } from './actions.js'
import { Arrivals } from './arrivals.js'

/** How the sink can be told to answer. @type {{ label: string, body: Answer }[]} */
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

/** Of webhooks that it accepts. @param {number | null} times */
function howMany(times) {
  if (times === null) return ''
  return times === 1 ? ' to the next webhook' : ` to the next ${counted(times, 'webhook')}`
}

/** What the sink answers now, in words, if none of the answers above is it. @param {Answer} answer */
function describe(answer) {
  const { status, times, delay } = complete(answer)
  const after = delay === 0 ? '' : ` after ${duration(delay)}`
  if (status >= 400 && times !== null) return `Answer ${status}${after}: ${counted(times, 'refusal')} left`
  return `Answer ${status}${after}${howMany(times)}`
}

/** The part of an answer that set-sink takes. @param {Answer} answer */
const onlySet = ({ status, times, delay_ms }) => ({ status, delay_ms, ...(times !== null && { times }) })

/** Our own endpoint: how it answers, and what it received. */
export function Sink() {
  const loaded = useLoad(
    async (signal) => (await call('/sandbox/get-sink', {}, { signal })).data,
    [],
    () => 2000,
  )
  const { data } = loaded
  return html`
    <section class="card pad" aria-labelledby="sink">
      <h2 id="sink">Sink</h2>
      <p class="dim">We receive your webhooks here. Make it fail to see retries, ordering and recovery.</p>
      <${Pending} of=${loaded} />
      ${data && html`<${SetAnswer} current=${data} />`}
      ${data && html`<${Arrivals} webhooks=${data.webhooks} />`}
    </section>
  `
}

/** @param {{ current: Answer }} props */
function SetAnswer({ current }) {
  const [chosen, choose] = useState(/** @type {string | undefined} */ (undefined))
  // until another answer is chosen, the one that it gives
  const options = answers.some(({ body }) => isSame(body, current))
    ? answers
    : [...answers, { label: describe(current), body: onlySet(current) }]
  const shown = chosen ?? String(options.findIndex(({ body }) => isSame(body, current)))
  const body = options[Number(shown)]?.body ?? {}
  const tell = (/** @type {{ message: string }} */ { message }) => {
    choose(undefined)
    return html`<${Done}>${message}<//>`
  }
  return html`
    <${Select}
      label="How it answers"
      value=${shown}
      options=${options.map(({ label }, index) => [String(index), label])}
      onValue=${choose}
    />
    <${Actions} actions=${[{ label: 'Set answer', path: '/sandbox/set-sink', body }]} tell=${tell} />
  `
}
