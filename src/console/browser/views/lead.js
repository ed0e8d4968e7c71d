import { html, useState } from '../preact.js'
import { ApiFailure } from '../api.js'
import { lookAgainMs } from '../deliveries.js'
import { loadLead } from '../lead-data.js'
import { useLoad } from '../live.js'
import { Badge, Card, Fact, NotFound, Pending } from '../parts.js'
import { link } from '../route.js'
import { Ahead, inUtc, isFarAhead, span, useNow, Utc } from '../time.js'
import { journey, words } from '../words.js'
import { Act } from './act.js'
import { Events } from './events.js'

/** @import { LeadData } from '../types.js' */

/** Whether the actions are open: once opened, they are with every lead. */
let isActing = false

/** @param {{ id: number, query: URLSearchParams }} props */
export function LeadView({ id, query }) {
  const loaded = useLoad(
    (signal) => loadLead(id, signal),
    [id],
    ({ steps }) => lookAgainMs(steps.flatMap(({ delivery }) => delivery ?? [])),
  )
  const { data, error } = loaded
  if (error instanceof ApiFailure && [400, 404].includes(error.status))
    return html`<${NotFound} title="Lead not found">
      There is no lead with this id. It may have been erased, or belong to another partner.
    <//>`
  return html`
    <p class="crumb"><a href=${link('leads')}>Leads</a></p>
    <div class="head">
      <h1 tabindex="-1">Lead <span class="figure">${id}</span></h1>
      ${
        data &&
        html`<span class="badges">
          <${Badge} state=${data.lead.status} />${data.closing && html`<${Badge} state="closed" />`}
          <span class="dim">${data.lead.partner_lead_id}</span>
        </span>`
      }
    </div>
    <${Pending} of=${loaded} />
    ${
      data &&
      html`<${Ahead.Provider} value=${data.ahead}
        ><${LeadPage} data=${data} chosen=${query.get('event')}
      /><//>`
    }
  `
}

/** @param {{ data: LeadData, chosen: string | null }} props */
function LeadPage({ data, chosen }) {
  const [isOpen, setOpen] = useState(isActing)
  const toggle = () => {
    isActing = !isOpen
    setOpen(isActing)
  }
  return html`
    <${Times} data=${data} />
    <${Journey} data=${data} />
    <div class="columns">
      <${Events} steps=${data.steps} chosen=${chosen} />
      <aside>
        ${
          (isOpen || data.closing === null) &&
          html`<section class="card pad act" aria-label="Make something happen">
            <button type="button" class="toggle" aria-expanded=${isOpen} onClick=${toggle}>
              Make something happen
            </button>
            ${isOpen && html`<${Act} data=${data} />`}
          </section>`
        }
        <${Borrower} data=${data} />
      </aside>
    </div>
  `
}

/** Which time the page is in, and what its clock brings next. @param {{ data: LeadData }} props */
function Times({ data: { ahead, closing, next } }) {
  const now = useNow()
  const clock = closing === null && html` (<span class="figure">${inUtc(now + ahead)}</span>)`
  return html`<p class="hint note">
    ${
      isFarAhead(ahead)
        ? html`Times on this page follow this lead’s clock, which is ${span(ahead)} ahead of real
          time${clock}. Attempts show real time. All times are UTC.`
        : 'Times are UTC.'
    }
    ${next && html`${' '}${next.what === 'end' ? 'The lead is closed' : `${words(next.what)} is due`} at <${Utc} at=${next.at} help />.`}
  </p>`
}

/** The journey as a line: milestones, their dates, and the next one. @param {{ data: LeadData }} props */
function Journey({ data: { lead, closing, steps, next } }) {
  const reached = journey.findIndex(({ name }) => name === lead.status)
  return html`
    <section aria-label="Journey" class="card journey">
      <ol>
        ${journey.map(({ name, meaning }, index) => {
          const events = steps.filter(({ event_name: event }) => event === name)
          const isNext = index === reached + 1 && closing === null
          const state = events.length > 0 ? 'done' : index <= reached ? 'passed' : isNext ? 'next' : ''
          const at = events.at(-1)?.created_at
          // a milestone may come after later ones, until the lead is closed
          const lacking = {
            done: '',
            passed: closing === null ? 'Not yet' : 'Skipped',
            next: 'Next milestone',
            '': '',
          }[state]
          const due = next?.what === name && html`Due <${Utc} at=${next.at} />`
          return html`
            <li
              key=${name}
              class=${state}
              aria-current=${name === lead.status ? 'step' : undefined}
              title=${meaning}
            >
              <span class="step-name">
                ${words(name)}${events.length > 1 && html` <span class="dim">×${events.length}</span>`}
              </span>
              <span>${at === undefined ? due || lacking : html`<${Utc} at=${at} />`}</span>
            </li>
          `
        })}
      </ol>
    </section>
  `
}

/** Fields that the page shows elsewhere, or that another one repeats. */
const elsewhere = [
  'id',
  'lead_id',
  'partner_id',
  'status',
  'first_name',
  'last_name',
  'created_at',
  'updated_at',
]

/** What is known of a lead's borrower, and its dates. @param {{ data: LeadData }} props */
const Borrower = ({ data: { lead, closing } }) => html`
  <${Card} id="borrower" title="Borrower">
    <dl class="facts borrower">
      <${Fact} name="Name">${`${lead.first_name} ${lead.last_name}`}<//>
      ${Object.entries(lead)
        .filter(([name, value]) => !elsewhere.includes(name) && value !== null)
        .map(([name, value]) => html`<${Fact} key=${name} name=${words(name)}>${String(value)}<//>`)}
      <${Fact} name="Created"><${Utc} at=${lead.created_at} zone /><//>
      <${Fact} name="Last change"><${Utc} at=${lead.updated_at} zone /><//>
      ${closing && html`<${Fact} name="Closed"><${Utc} at=${closing.at} zone /> (${words(closing.reason).toLowerCase()})<//>`}
    </dl>
  <//>
`
