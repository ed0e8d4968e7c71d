import { html, useState } from '../preact.js'
import { call } from '../api.js'
import { Actions, Field } from '../forms.js'
import { useLoad } from '../live.js'
import { Done, Failure } from '../parts.js'
import { link } from '../route.js'
import { closeReasons, milestones } from '../service.js'
import { Utc } from '../time.js'
import { counted, journey, words } from '../words.js'

/** @import { Answer, LeadData } from '../types.js' */

/** What can be done with a lead. @param {{ data: LeadData }} props */
export const Act = ({ data }) =>
  data.closing === null
    ? html`
        <${Milestones} data=${data} />
        <${Clock} data=${data} />
        <h3>Run a scenario</h3>
        <${Scenarios} id=${data.lead.lead_id} />
        <${Close} id=${data.lead.lead_id} />
      `
    : html`<p class="dim">
        This lead is closed: no more milestones are recorded, and its clock has stopped. You can still resend
        its webhooks.
      </p>`

/**
 * The next step, and the last one if it can happen again, as buttons; everything else that can still happen as a
 * choice.
 *
 * @param {{ data: LeadData }} props
 */
function Milestones({ data: { lead, steps } }) {
  const [chosen, choose] = useState('')
  const reached = journey.findIndex(({ name }) => name === lead.status)
  const again = journey.slice(reached, reached + 1).filter(({ once }) => !once)
  const likely = [...journey.slice(reached + 1, reached + 2), ...again]
  const recorded = new Set(steps.map(({ event_name: name }) => name))
  const others = milestones
    .filter(({ name, once }) => name !== 'lead_received' && !(once && recorded.has(name)))
    .map(({ name }) => name)
    .filter((name) => likely.every((one) => one.name !== name))
  const other = others.includes(chosen) ? chosen : others[0]
  const simulation = (/** @type {string} */ name, label = words(name)) => ({
    label,
    path: '/sandbox/simulate-event',
    body: { lead_id: lead.lead_id, event_name: name },
  })
  return html`
    <h3>Simulate a milestone</h3>
    <${Actions}
      actions=${[
        ...likely.map(({ name }) => simulation(name)),
        ...(other === undefined ? [] : [simulation(other, `Simulate “${words(other)}”`)]),
      ]}
      tell=${tellEvents}
    >
      ${
        other !== undefined &&
        html`<${Field}
          name="milestone"
          label="Any other milestone"
          value=${other}
          options=${others.map((name) => [name, words(name)])}
          onValue=${choose}
        />`
      }
    <//>
  `
}

/** @param {Answer<'/sandbox/simulate-event'>} answer */
const tellEvents = ({ data: { events } }) => html`
  <${Done} isChange=${events.some(({ recorded }) => recorded)}>
    ${events
      .map(({ event_name: name, recorded }) => `${words(name)} ${recorded ? 'is' : 'was already'} recorded.`)
      .join(' ')}
  <//>
`

/** Advances a lead's clock. A button that would find nothing due is off, and says why. @param {{ data: LeadData }} props */
function Clock({ data: { lead, steps } }) {
  const isReady = lead.status === 'mortgage_ready'
  const isRetried = steps.some(
    ({ delivery }) => delivery?.state === 'pending' && delivery.next_attempt_at !== null,
  )
  const isFunded = steps.some(({ event_name: name }) => name === 'escrow_funded')
  const noScore = isReady ? 'no score update after mortgage ready' : 'no score update before escrow is funded'
  /** @param {string} label @param {object} by @param {string | false} [off] */
  const advance = (label, by, off = false) => ({
    label,
    path: '/sandbox/advance-clock',
    body: { lead_id: lead.lead_id, ...by },
    off: off || undefined,
  })
  return html`
    <h3>Advance its clock</h3>
    <${Actions}
      actions=${[
        advance('To the next score update', { to: 'next_score_update' }, (isReady || !isFunded) && noScore),
        advance('To the next retry', { to: 'next_retry' }, !isRetried && 'no webhook fails'),
        advance('By 45 days', { days: 45 }),
        advance('To the end', { to: 'end' }, !isReady && 'the end follows mortgage ready'),
      ]}
      tell=${tellAdvance}
    />
  `
}

/** @param {Answer<'/sandbox/advance-clock'>} answer */
function tellAdvance({ data: { now, happened, stopped } }) {
  const count = (/** @type {string} */ kind) => happened.filter(({ what }) => what === kind).length
  const kinds = [
    count('event') > 0 && counted(count('event'), 'event'),
    count('webhook') > 0 && counted(count('webhook'), 'webhook attempt'),
    count('end') > 0 && 'lead closed',
  ]
  const what = kinds.filter(Boolean).join(', ') || 'Nothing was due'
  const why = stopped ? ` It stopped: ${words(stopped).toLowerCase()}.` : ''
  return html`<${Done} isChange=${happened.length > 0 && !stopped}>
    ${what}. The lead’s clock shows <${Utc} at=${now} zone />.${why}
  <//>`
}

/** The text for each outcome of a scenario. @type {Record<string, string>} */
const outcomes = {
  done: 'The scenario is complete.',
  running: 'The scenario continues in the background.',
  stopped:
    'The scenario stopped: the endpoint has failed for so long that production would pause it, or the lead has reached a limit of the sandbox.',
  closed: 'The lead was closed during the scenario.',
}

/** Runs a scenario with a lead, or with a new one. @param {{ id?: number }} props */
export function Scenarios({ id }) {
  const { data, error, reload } = useLoad(
    (signal) => call('/sandbox/scenarios', undefined, { signal, method: 'GET' }),
    [],
  )
  const [chosen, choose] = useState(/** @type {string | undefined} */ (undefined))
  if (data === undefined) return html`<${Failure} error=${error} again=${reload} />`
  const scenario = data.data.find((one) => one.scenario === chosen) ?? data.data[0]
  const body = { scenario: scenario?.scenario, ...(id !== undefined && { lead_id: id }) }
  const tell = (/** @type {Answer<'/sandbox/run-scenario'>} */ { data: { lead_id: lead, state } }) => {
    if (id === undefined) location.hash = link(`leads/${lead}`)
    return html`<${Done}>${outcomes[state] ?? words(state)}<//>`
  }
  return html`
    <${Field}
      name="scenario"
      label="Scenario"
      value=${scenario?.scenario}
      options=${data.data.map((one) => [one.scenario, words(one.scenario)])}
      onValue=${choose}
    />
    <p class="dim">${scenario?.about}</p>
    <${Actions} actions=${[{ label: 'Run scenario', path: '/sandbox/run-scenario', body }]} tell=${tell} />
  `
}

/** Closes a lead for good, so it asks for confirmation. @param {{ id: number }} props */
function Close({ id }) {
  const [reason, choose] = useState(closeReasons[0] ?? '')
  const ask = {
    title: `Close lead ${id}?`,
    text: 'It stays closed: no more milestones are recorded, and its clock stops. Waiting webhooks are still sent.',
    keep: 'Keep it open',
    use: 'Close the lead',
  }
  return html`
    <h3>Close it</h3>
    <${Field}
      name="reason"
      label="Reason"
      value=${reason}
      options=${closeReasons.map((name) => [name, words(name)])}
      onValue=${choose}
    />
    <${Actions}
      actions=${[{ label: 'Close the lead …', path: '/close-lead', body: { lead_id: id, reason }, ask }]}
    />
  `
}
