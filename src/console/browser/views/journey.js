import { html } from '../preact.js'
import { Utc } from '../utc.js'
import { journey, words } from '../words.js'

/** @import { LeadData } from '../types.js' */

/** The journey as a line: milestones, their dates, and the next one. @param {{ data: LeadData }} props */
export function Journey({ data: { lead, closing, steps, next } }) {
  const reached = journey.findIndex(({ name }) => name === lead.status)
  return html`
    <section aria-label="Journey" class="card journey">
      <ol>
        ${journey.map(({ name, meaning }, index) => {
          const events = steps.filter(({ event_name: event }) => event === name)
          const isNext = index === reached + 1 && closing === null
          const state = events.length > 0 ? 'done' : index <= reached ? 'passed' : isNext ? 'next' : ''
          return html`
            <li
              key=${name}
              class=${state}
              aria-current=${name === lead.status ? 'step' : undefined}
              title=${meaning}
            >
              <span class="step-name">
                ${words(name)}${events.length > 1 && html` <span class="times">×${events.length}</span>`}
              </span>
              <span class="step-when">
                <${When}
                  at=${events.at(-1)?.created_at}
                  due=${next?.what === name ? next.at : undefined}
                  state=${state}
                  isClosed=${closing !== null}
                />
              </span>
            </li>
          `
        })}
      </ol>
    </section>
  `
}

/** @param {{ at: string | undefined, due: string | undefined, state: string, isClosed: boolean }} props */
function When({ at, due, state, isClosed }) {
  if (at !== undefined) return html`<${Utc} at=${at} />`
  if (due !== undefined) return html`Due <${Utc} at=${due} />`
  // a milestone may come after later ones, until the lead is closed
  if (state === 'passed') return isClosed ? 'Skipped' : 'Not yet'
  return state === 'next' ? 'Next milestone' : ''
}
