import { html } from '../preact.js'
import { ApiFailure } from '../api.js'
import { loadLead, lookAgainMs } from '../lead-data.js'
import { useLoad } from '../live.js'
import { Ahead, Badge, Empty, Fact, Failure, Loading, Time } from '../parts.js'
import { link } from '../route.js'
import { span } from '../time.js'
import { counted, words } from '../words.js'
import { Act } from './act.js'
import { Journey } from './journey.js'
import { Webhook } from './webhook.js'

/** @param {{ id: number, query: URLSearchParams }} props */
export function LeadView({ id, query }) {
  const { data, error, reload } = useLoad(
    (signal) => loadLead(id, signal),
    [id],
    ({ steps, ahead }) =>
      lookAgainMs(
        steps.flatMap(({ delivery }) => delivery ?? []),
        ahead,
      ),
  )
  const isUnknown = error instanceof ApiFailure && [400, 404].includes(error.status)
  if (isUnknown) return html`<${UnknownLead} />`
  return html`
    <p class="crumb"><a href=${link('leads')}>Leads</a></p>
    <div class="head">
      <h1 tabindex="-1">Lead <span class="figure">${id}</span></h1>
      ${
        data &&
        html`<span class="badges">
          <${Badge} state=${data.lead.status} />${data.closedAt !== null && html`<${Badge} state="closed" />`}
        </span>`
      }
    </div>
    <${Failure} error=${error} again=${reload} />
    ${data === undefined && error === undefined && html`<${Loading} />`}
    ${
      data &&
      html`<${Ahead.Provider} value=${data.ahead}
        ><${LeadPage} data=${data} chosen=${query.get('event')}
      /><//>`
    }
  `
}

const UnknownLead = () => html`
  <h1 tabindex="-1" class="hidden">Lead not found</h1>
  <${Empty} title="Lead not found" action=${html`<a class="button" href=${link('leads')}>See your leads</a>`}>
    There is no lead with this id. It may have been erased, or belong to another partner.
  <//>
`

/** @param {{ data: import('../lead-data.js').LeadData, chosen: string | null }} props */
const LeadPage = ({ data, chosen }) => html`
  ${
    data.ahead > 0 &&
    html`<p class="dim note">
      Times on this page follow this lead’s clock, which is ${span(data.ahead)} ahead of real time. Attempts
      show real time.
    </p>`
  }
  <${Journey} data=${data} />
  <div class="columns">
    <section aria-labelledby="events">
      <div class="section-head">
        <h2 id="events">Events and webhooks</h2>
        <span class="dim">${counted(data.steps.length, 'event')}, newest first</span>
      </div>
      ${data.pausedEndpoint !== null && html`<${Held} endpoint=${data.pausedEndpoint} />`}
      <ol class="events">
        ${data.steps
          .map(
            (step, index) =>
              html`<${Webhook}
                key=${step.delivery?.event_id ?? `event-${index}`}
                step=${step}
                isOpen=${step.delivery !== undefined && step.delivery.event_id === chosen}
              />`,
          )
          .toReversed()}
      </ol>
    </section>
    <aside>
      <${Act} data=${data} />
      <${Facts} data=${data} />
    </aside>
  </div>
`

/** @param {{ endpoint: { url: string | null, reason: string } }} props */
const Held = ({ endpoint: { url, reason } }) => html`
  <p class="note">
    Held: ${url === null ? 'you have no endpoint yet' : `your endpoint is paused, because ${reason}`}.${' '}
    <a href=${link('endpoint')}>${url === null ? 'Set one up' : 'See your endpoint'}</a>
  </p>
`

/** Shown by hand above, or said by another field. */
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

/** @param {{ data: import('../lead-data.js').LeadData }} props */
const Facts = ({ data: { lead, closedAt, now, ahead } }) => html`
  <section class="card pad" aria-labelledby="borrower">
    <h2 id="borrower">Borrower</h2>
    <dl class="facts">
      <${Fact} name="Name">${`${lead.first_name} ${lead.last_name}`}<//>
      ${Object.entries(lead)
        .filter(([name, value]) => !elsewhere.includes(name) && value !== null)
        .filter(([name]) => name !== 'closed_at' || closedAt === null)
        .map(([name, value]) => html`<${Fact} key=${name} name=${words(name)}>${String(value)}<//>`)}
      <${Fact} name="Created"><${Time} at=${lead.created_at} as="full" /><//>
      <${Fact} name="Last change"><${Time} at=${lead.updated_at} as="full" /><//>
      ${closedAt !== null && html`<${Fact} name="Closed"><${Time} at=${closedAt} as="full" /><//>`}
      ${ahead > 0 && closedAt === null && html`<${Fact} name="Its clock shows"><${Time} at=${now} as="full" /><//>`}
    </dl>
  </section>
`
