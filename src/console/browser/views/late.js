import { html, useContext } from '../preact.js'
import { outcomeOf } from '../lead-data.js'
import { Ahead, useNow } from '../parts.js'
import { retryDelaysMs } from '../service.js'
import { distance, inUtc, isFarAhead, parseTime, span } from '../time.js'
import { Utc } from '../utc.js'
import { counted } from '../words.js'
import { Resend } from './resend.js'

/** @import { Delivery, Tick } from '../types.js' */

const MOST_MADE = 4

/**
 * Why a webhook is late, and when it is tried again: what one wants to know without opening it.
 *
 * @param {{ delivery: Delivery, problem: string, waiting: number }} props
 */
export function Late({ delivery, problem, waiting }) {
  // no request is made until we have mended it
  const isOurFault = delivery.fault !== null
  return html`<div class="why">
    <p class="hint-line problem">${problem}.</p>
    ${!isOurFault && html`<${When} delivery=${delivery} />`}
    ${waiting > 0 && html`<p class="dim">${counted(waiting, 'later webhook')} of this lead ${waiting === 1 ? 'waits' : 'wait'} for it.</p>`}
    ${delivery.state === 'pending' && !isOurFault && html`<${RetryLine} delivery=${delivery} />`}
    ${!isOurFault && html`<${Resend} delivery=${delivery} />`}
  </div>`
}

/** @param {{ delivery: Delivery }} props */
function When({ delivery }) {
  const ahead = useContext(Ahead)
  const { state, next_attempt_at: next, settled_at: settled } = delivery
  if (state === 'given_up')
    return html`<p>
      Given up${settled !== null && html` at <${Utc} at=${settled} zone isReal />`}: it is sent again only if
      you resend it.
    </p>`
  if (next === null) return null
  const real = inUtc(new Date(parseTime(next).getTime() - ahead))
  return html`<p>
    <b>Next attempt <${Utc} at=${real} zone isReal help /></b
    >${isFarAhead(ahead) && html`, <span class="dim"><${Utc} at=${next} /> on its clock</span>`}.
  </p>`
}

/** @param {{ delivery: Delivery }} props */
function RetryLine({ delivery }) {
  const now = Math.max(useNow(), Date.now())
  const ahead = useContext(Ahead)
  const ticks = retryTicks(delivery, ahead)
  return html`
    <figure class="retries">
      <figcaption>Attempts <small>real time, UTC</small></figcaption>
      <ol>
        ${ticks.map(
          (tick, index) =>
            html`<li key=${index} class=${tick.kind}><i></i><${Point} tick=${tick} now=${now} /></li>`,
        )}
      </ol>
      <p class="hint">
        ${ticks.at(-1)?.kind === 'later' ? 'Then one a day.' : 'One a day from here on.'}${' '}Each wait may
        be up to 20 % longer.
      </p>
    </figure>
  `
}

/**
 * A webhook's retry schedule with the present in it, in real time. Attempts of other kinds change nothing in it.
 *
 * @param {Delivery} delivery
 * @param {number} ahead by how much its lead's clock is, in ms
 */
function retryTicks({ attempts, next_attempt_at: next }, ahead) {
  const made = attempts.filter(({ trigger }) => trigger === 'scheduled')
  const earlier = made.length - MOST_MADE
  /** @type {Tick[]} */
  const ticks = earlier > 0 ? [{ kind: 'earlier', count: earlier }] : []
  for (const attempt of made.slice(-MOST_MADE)) ticks.push({ kind: 'made', at: attempt.started_at, attempt })
  ticks.push({ kind: 'now' })
  if (next !== null) ticks.push({ kind: 'next', at: inUtc(new Date(parseTime(next).getTime() - ahead)) })
  for (const waitMs of retryDelaysMs.slice(made.length + 1)) ticks.push({ kind: 'later', waitMs })
  return ticks
}

/** @param {{ tick: Tick, now: number }} props */
function Point({ tick, now }) {
  if (tick.kind === 'now') return html`<b>Now</b><span>${dated(inUtc(new Date(now)))}</span>`
  if (tick.kind === 'made') return html`<b>${outcomeOf(tick.attempt).text}</b><span>${dated(tick.at)}</span>`
  if (tick.kind === 'next')
    return html`<b>${distance(parseTime(tick.at), now)}</b><span>${dated(tick.at)}</span>`
  if (tick.kind === 'earlier') return html`<b>${tick.count} earlier</b>`
  return html`<b>+${short(tick.waitMs)}</b>`
}

/** @param {number} ms */
const short = (ms) =>
  span(ms)
    .replace(/ minutes?/, ' min')
    .replace(/ hours?/, ' h')

/** The day above the time. @param {string} at */
const dated = (at) => at.split(' ').map((part) => html`<span class="figure">${part} </span>`)
