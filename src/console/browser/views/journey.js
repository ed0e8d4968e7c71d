import { html } from '../preact.js'
import { Time } from '../parts.js'
import { journey, words } from '../words.js'

/** The journey as a line: milestones, their dates, and the next one. @param {{ data: import('../lead-data.js').LeadData }} props */
export function Journey({ data: { lead, closedAt, steps, next } }) {
  const reached = journey.findIndex(({ name }) => name === lead.status)
  return html`
    <section aria-label="Journey" class="card journey">
      <ol>
        ${journey.map(({ name, meaning }, index) => {
          const events = steps.filter(({ event_name: event }) => event === name)
          const isNext = index === reached + 1 && closedAt === null
          const state = events.length > 0 ? 'done' : index <= reached ? 'passed' : isNext ? 'next' : ''
          return html`
            <li
              key=${name}
              class=${state}
              aria-current=${name === lead.status ? 'step' : undefined}
              title=${meaning}
            >
              <span class="mark"></span>
              <span class="step-name">
                ${words(name)}${events.length > 1 && html` <span class="times">×${events.length}</span>`}
              </span>
              <span class="step-when">
                <${When}
                  name=${name}
                  at=${events.at(-1)?.created_at}
                  state=${state}
                  next=${next}
                  isClosed=${closedAt !== null}
                />
              </span>
            </li>
          `
        })}
      </ol>
    </section>
  `
}

/** @param {{ name: string, at: string | undefined, state: string, next: import('../lead-data.js').Due | null, isClosed: boolean }} props */
function When({ name, at, state, next, isClosed }) {
  const due = next?.what === name ? html`due <${Time} at=${next.at} />` : undefined
  if (at !== undefined) return html`<${Time} at=${at} />${due && html`<br />next ${due}`}`
  if (due !== undefined) return due
  // a milestone may come after later ones, until the lead is closed
  if (state === 'passed') return isClosed ? 'Skipped' : 'Not yet'
  return state === 'next' ? 'Next' : ''
}
