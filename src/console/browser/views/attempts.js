import { html } from '../preact.js'
import { outcomeOf, problemOf } from '../lead-data.js'
import { Badge } from '../parts.js'
import { isSink, toldSink } from '../sinks.js'
import { duration } from '../time.js'
import { Utc } from '../utc.js'

/** @import { Attempt, Delivery } from '../types.js' */

/**
 * A webhook's attempts; of the one that is chosen, request and response are below. A hint is said once, by the last of
 * those that have it in a row.
 *
 * @param {{ delivery: Delivery, shown: Attempt, onChoose: (number: number) => void }} props
 */
export function Attempts({ delivery, shown, onChoose }) {
  const { attempts } = delivery
  // its row says it
  const said = problemOf(delivery)
  return html`
    <div class="table tries">
      <table>
        <caption class="hidden">
          Attempts
        </caption>
        <thead>
          <tr>
            <th scope="col">Attempt</th>
            <th scope="col">Response</th>
            <th scope="col" class="wide-only">Took</th>
            <th scope="col">Made <small>real time, UTC</small></th>
            <th scope="col" class="wide-only">Because of</th>
          </tr>
        </thead>
        <tbody>
          ${attempts.map((attempt, index) => {
            const { hint } = attempt
            const isSaid =
              hint === null ||
              (isSink(attempt.url) && toldSink(attempt) !== undefined) ||
              hint === said ||
              hint === attempts[index + 1]?.hint
            return html`
              <${Row}
                key=${attempt.number}
                attempt=${attempt}
                isShown=${attempt === shown}
                onChoose=${() => onChoose(attempt.number)}
              />
              ${
                !isSaid &&
                html`<tr key=${`hint-${attempt.number}`} class="below-row">
                  <td colspan="5"><p class="hint-line">${hint}</p></td>
                </tr>`
              }
            `
          })}
        </tbody>
      </table>
    </div>
  `
}

/** @type {Record<string, string>} */
const reasons = {
  scheduled: 'the schedule',
  resend: 'a resend',
  replay: 'a replay',
  probe: 'a probe of the endpoint',
}

/** @param {{ attempt: Attempt, isShown: boolean, onChoose: () => void }} props */
const Row = ({ attempt, isShown, onChoose }) => html`
  <tr class=${isShown ? 'shown' : ''}>
    <td>
      <button type="button" class="toggle" aria-pressed=${isShown} onClick=${onChoose}>
        ${attempt.number}
      </button>
    </td>
    <td><${Badge} ...${outcomeOf(attempt)} /></td>
    <td class="figure wide-only">${duration(attempt.duration_ms)}</td>
    <td><${Utc} at=${attempt.started_at} isReal /></td>
    <td class="dim wide-only">${reasons[attempt.trigger] ?? attempt.trigger}</td>
  </tr>
`
