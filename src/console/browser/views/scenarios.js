import { html, useState } from '../preact.js'
import { call } from '../api.js'
import { Select } from '../inputs.js'
import { useLoad } from '../live.js'
import { Done, Failure } from '../parts.js'
import { go, link } from '../route.js'
import { words } from '../words.js'
import { Actions } from './actions.js'

/** @import { Answer } from '../types.js' */

/** What came of it. @type {Record<string, string>} */
const outcomes = {
  done: 'The scenario is complete.',
  running: 'The scenario continues in the background.',
  stopped:
    'The scenario stopped: the endpoint has failed for so long that production would pause it, or the lead has reached a limit of the sandbox.',
  closed: 'The lead was closed during the scenario.',
}

/** Whole journeys, with a lead or with a new one. @param {{ id?: number }} props */
export function Scenarios({ id }) {
  const { data, error, reload } = useLoad(
    (signal) => call('/sandbox/scenarios', undefined, { signal, method: 'GET' }),
    ['scenarios'],
  )
  const [chosen, choose] = useState(/** @type {string | undefined} */ (undefined))
  if (data === undefined) return html`<${Failure} error=${error} again=${reload} />`
  const scenario = data.data.find((one) => one.scenario === chosen) ?? data.data[0]
  const body = { scenario: scenario?.scenario, ...(id !== undefined && { lead_id: id }) }
  const tell = (/** @type {Answer<'/sandbox/run-scenario'>} */ { data: { lead_id: lead, state } }) => {
    if (id === undefined) go(link(`leads/${lead}`))
    return html`<${Done}>${outcomes[state] ?? words(state)}<//>`
  }
  return html`
    <${Select}
      label="Scenario"
      value=${scenario?.scenario}
      options=${data.data.map((one) => [one.scenario, words(one.scenario)])}
      onValue=${choose}
    />
    <p class="dim">${scenario?.about}</p>
    <${Actions} actions=${[{ label: 'Run scenario', path: '/sandbox/run-scenario', body }]} tell=${tell} />
  `
}
