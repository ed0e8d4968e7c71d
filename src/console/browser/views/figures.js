import { html } from '../preact.js'
import { duration } from '../time.js'
import { counted } from '../words.js'

/** How its recent attempts went. @param {{ recent: import('../types.js').RecentAttempts }} props */
export function Figures({ recent }) {
  const { count, success_rate: rate, duration_p50_ms: half, duration_p95_ms: most } = recent
  return html`
    <section class="card pad" aria-labelledby="figures">
      <div class="section-head">
        <h2 id="figures">Recent attempts</h2>
        <span class="dim">${count === 0 ? 'None yet' : `The last ${counted(count, 'attempt')}`}</span>
      </div>
      ${
        rate !== null &&
        html`<dl class="figures">
          <${Figure} name="Success rate">${percent(rate)}<//>
          <${Figure} name="Median response time">${duration(half)}<//>
          <${Figure} name="95th percentile">${duration(most)}<//>
          <${Figure} name="Limit">15 s<//>
        </dl>`
      }
    </section>
  `
}

/** Never rounded up to a whole record. @param {number} rate */
const percent = (rate) => (rate === 1 ? '100%' : `${Math.min(99.9, rate * 100).toFixed(1)}%`)

/** @param {{ name: string, children?: import('preact').ComponentChildren }} props */
const Figure = ({ name, children }) => html`
  <div>
    <dt>${name}</dt>
    <dd class="figure">${children}</dd>
  </div>
`
