import { html, useState } from '../preact.js'
import { call, offers } from '../api.js'
import { touch, useLoad } from '../live.js'
import { Done, Failure, useAction } from '../parts.js'
import { go, link } from '../route.js'
import { words } from '../words.js'
import { Curl } from './curls.js'

/** @typedef {{ scenario: string, about: string, webhooks: string[] }} Scenario */

const PATH = '/sandbox/run-scenario'

/** What came of it. @type {Record<string, string>} */
const outcomes = {
  done: 'The scenario is complete.',
  running: 'The scenario continues in the background.',
  stopped: 'The scenario stopped: the endpoint has failed for so long that production would pause it.',
  closed: 'The lead was closed during the scenario.',
}

/** Whole journeys, with a lead or with a new one. @param {{ id?: number }} props */
export const Scenarios = ({ id }) => (offers(PATH) ? html`<${Menu} id=${id} />` : null)

/** @param {{ id: number | undefined }} props */
function Menu({ id }) {
  const { data, error, reload } = useLoad(
    async (signal) => {
      const answer = await call('/sandbox/scenarios', undefined, { signal, method: 'GET' })
      return /** @type {Scenario[]} */ (answer.data)
    },
    ['scenarios'],
  )
  if (data === undefined) return html`<${Failure} error=${error} again=${reload} />`
  return html`<${Choice} scenarios=${data} id=${id} />`
}

/** @param {{ scenarios: Scenario[], id: number | undefined }} props */
function Choice({ scenarios, id }) {
  const [chosen, choose] = useState(scenarios[0]?.scenario ?? '')
  const { busy, error, done, run } = useAction()
  const body = { scenario: chosen, ...(id !== undefined && { lead_id: id }) }
  const start = () =>
    run('scenario', async () => {
      const { data } = await call(PATH, body)
      touch()
      if (id === undefined) go(link(`leads/${data.lead_id}`))
      return outcomes[data.state] ?? words(data.state)
    })
  return html`
    <label class="menu"
      ><span>Scenario</span>
      <select
        value=${chosen}
        onChange=${(/** @type {Event} */ event) =>
          choose(/** @type {HTMLSelectElement} */ (event.currentTarget).value)}
      >
        ${scenarios.map(({ scenario }) => html`<option value=${scenario}>${words(scenario)}</option>`)}
      </select>
    </label>
    <p class="dim">${scenarios.find(({ scenario }) => scenario === chosen)?.about}</p>
    <div class="actions">
      <button type="button" aria-disabled=${busy !== undefined} onClick=${start}>
        ${busy === undefined ? 'Run scenario' : 'Running …'}
      </button>
      <${Curl} path=${PATH} body=${body} />
    </div>
    ${done && html`<${Done}>${done}<//>`}
    <${Failure} error=${error} />
  `
}
