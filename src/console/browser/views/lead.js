import { html, useState } from '../preact.js'
import { ApiFailure } from '../api.js'
import { Lazy } from '../lazy.js'
import { styled } from '../styled.js'
import { loadLead, lookAgainMs } from '../lead-data.js'
import { useLoad } from '../live.js'
import { Ahead, Badge, Pending, useNow } from '../parts.js'
import { link } from '../route.js'
import { inUtc, isFarAhead, span } from '../time.js'
import { Borrower } from './borrower.js'
import { Events } from './events.js'
import { Journey } from './journey.js'

/** @import { LeadData } from '../types.js' */

await styled('lead.css')
const notFound = async () => (await import('./not-found.js')).NotFound
const act = async () => (await import('./act.js')).Act
/** Once opened, it is with every lead. */
let isActing = false

/** @param {{ id: number, query: URLSearchParams }} props */
export function LeadView({ id, query }) {
  const loaded = useLoad(
    (signal) => loadLead(id, signal),
    [id],
    ({ steps, ahead }) =>
      lookAgainMs(
        steps.flatMap(({ delivery }) => delivery ?? []),
        ahead,
      ),
  )
  const { data, error } = loaded
  const isUnknown = error instanceof ApiFailure && [400, 404].includes(error.status)
  if (isUnknown) return html`<${UnknownLead} />`
  return html`
    <p class="crumb"><a href=${link('leads')}>Leads</a></p>
    <div class="head">
      <h1 tabindex="-1">Lead <span class="figure">${id}</span></h1>
      ${
        data &&
        html`<span class="badges">
          <${Badge} state=${data.lead.status} />${data.closing !== null && html`<${Badge} state="closed" />`}
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

const UnknownLead = () => html`
  <${Lazy} load=${notFound} title="Lead not found">
    There is no lead with this id. It may have been erased, or belong to another partner.
  <//>
`

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
      <${Events} data=${data} chosen=${chosen} />
      <aside>
        ${
          (isOpen || data.closing === null) &&
          html`<section class="card pad act" aria-label="Make something happen">
            <button type="button" class="toggle" aria-expanded=${isOpen} onClick=${toggle}>
              Make something happen
            </button>
            ${isOpen && html`<${Lazy} load=${act} data=${data} />`}
          </section>`
        }
        <${Borrower} data=${data} />
      </aside>
    </div>
  `
}

/** Which time the page is in. @param {{ data: LeadData }} props */
function Times({ data: { ahead, closing } }) {
  const now = useNow()
  if (!isFarAhead(ahead)) return html`<p class="hint note">Times are UTC.</p>`
  return html`<p class="hint note">
    Times on this page follow this lead’s clock, which is ${span(ahead)} ahead of real
    time${closing === null && html`: <span class="figure">${inUtc(new Date(now + ahead))}</span>`}. Attempts
    show real time. All are UTC.
  </p>`
}
