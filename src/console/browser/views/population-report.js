import { html } from '../preact.js'
import { Fact } from '../parts.js'
import { link } from '../route.js'
import { duration } from '../time.js'
import { counted, words } from '../words.js'

/** How a journey ended, for people. @type {Record<string, string>} */
const ends = {
  played: 'lived through the whole year',
  closed: 'closed on the way',
  erased: 'erased on the way',
  refused: 'given up, because your endpoint refused a webhook for too long',
  unfinished: 'unfinished when the population ended',
}

/** @param {Record<string, number>} counts @param {(name: string) => string} text */
const listed = (counts, text) =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count.toLocaleString('en')} ${text(name)}`)
    .join(', ')

/** What a population came to. @param {{ id: number, report: Record<string, any> }} props */
export const PopulationReport = ({
  id,
  report: { leads, kinds, webhooks, slowest, never_accepted: never, seconds },
}) => html`
  <section class="card pad" aria-labelledby="report">
    <h2 id="report">Report</h2>
    ${
      never.count > 0 &&
      html`<p class="bad-line">
          ${counted(never.count, 'webhook')} ${never.count === 1 ? 'was' : 'were'} never accepted:
        </p>
        <${Webhooks} webhooks=${never.webhooks} />`
    }
    <p>
      Your endpoint accepted ${counted(webhooks.accepted, 'webhook')}: compare that with what your system has
      handled.
    </p>
    <dl class="facts">
      <${Fact} name="Requests">
        ${webhooks.attempts.toLocaleString('en')}, of which ${webhooks.refused.toLocaleString('en')} were
        refused
      <//>
      <${Fact} name="Repeated">${counted(webhooks.repeated, 'webhook')} took more than one request<//>
      <${Fact} name="Borrowers">
        ${listed(leads, (end) => ends[end] ?? words(end).toLowerCase())}. ${' '}<a
          href=${link('leads', { search: `POPULATION-${id}-` })}
          >See their leads</a
        >
      <//>
      <${Fact} name="Kinds of journeys">${listed(kinds, (kind) => words(kind).toLowerCase())}<//>
      <${Fact} name="It took">${counted(seconds, 'second')}<//>
    </dl>
    ${
      slowest.length > 0 &&
      html`<h3>Slowest responses</h3>
        <${Webhooks} webhooks=${slowest} />`
    }
  </section>
`

/** @param {{ webhooks: { lead_id: number, event_id: string, event_name: string, ms?: number }[] }} props */
const Webhooks = ({ webhooks }) => html`
  <ol class="attempts">
    ${webhooks.map(
      ({ lead_id: lead, event_id: id, event_name: name, ms }) => html`
        <li key=${`${id}-${ms}`}>
          <a href=${link(`leads/${lead}`, { event: id })}>${words(name)}, lead ${lead}</a>
          ${ms !== undefined && html`<span class="dim figure">${duration(ms)}</span>`}
        </li>
      `,
    )}
  </ol>
`
