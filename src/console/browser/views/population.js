import { html } from '../preact.js'
import { ApiFailure, call } from '../api.js'
import { Lazy } from '../lazy.js'
import { touch, useLoad } from '../live.js'
import { Badge, Failure, Fact, Loading, useAction } from '../parts.js'
import { link } from '../route.js'
import { styled } from '../styled.js'
import { Utc } from '../utc.js'
import { counted, words } from '../words.js'
import { Curls } from './curls.js'
import { NotFound } from './not-found.js'
import { RunPopulation } from './population-form.js'

await styled('forms.css', 'lists.css', 'sandbox.css')

/** @typedef {Record<string, any>} Population what get-population answers; `null` before the first */

const LOOK_AGAIN_MS = 2000

/** The state that each status looks like. @type {Record<string, string>} */
const tones = {
  running: 'running',
  canceling: 'running',
  done: 'passed',
  canceled: 'canceled',
  stopped: 'failed',
}

/** @param {Population | null} population */
const isOver = (population) => population === null || population.ended_at !== null

/** A population: how far it is, or its report; and the form for the next one. @param {{ query: URLSearchParams }} props */
export function PopulationView({ query }) {
  const id = query.get('id')
  const body = id === null ? {} : { population_id: Number(id) }
  const { data, error, reload } = useLoad(
    async (signal) =>
      /** @type {Population | null} */ ((await call('/sandbox/get-population', body, { signal })).data),
    [id],
    (population) => (isOver(population) ? undefined : LOOK_AGAIN_MS),
  )
  if (error instanceof ApiFailure && [400, 404].includes(error.status))
    return html`<${NotFound}
      title="Population not found"
      action=${html`<a class="button" href=${link('sandbox/population')}>See the latest</a>`}
      >There is no population with this id. Your last 20 are kept for 7 days.<//
    >`
  return html`
    <p class="crumb"><a href=${link('sandbox')}>Sandbox</a></p>
    <div class="head">
      <h1 tabindex="-1">Population</h1>
      ${data && html`<${Badge} state=${tones[data.status]} text=${words(data.status)} />`}
    </div>
    <${Failure} error=${error} again=${reload} />
    ${data === undefined && error === undefined && html`<${Loading} />`}
    ${
      data !== undefined &&
      html`<div class="stack narrow">
        ${data && html`<${Progress} population=${data} />`}
        ${data?.report && html`<${Lazy} key=${data.population_id} load=${loadReport} id=${data.population_id} report=${data.report} />`}
        ${isOver(data) && html`<${RunPopulation} />`}
      </div>`
    }
  `
}

const loadReport = async () => (await import('./population-report.js')).PopulationReport

/** @param {{ population: Population }} props */
function Progress({ population }) {
  const { population_id: id, size, seed, status, faults, progress } = population
  const { done, of, webhooks, webhooks_per_second: rate, late } = progress
  return html`
    <section class="card pad" aria-labelledby="progress">
      <h2 id="progress">Population <span class="figure">${id}</span></h2>
      <progress value=${done} max=${of} aria-label="Journeys that are over"></progress>
      <p role="status">
        ${done.toLocaleString('en')} of ${counted(of, 'journey')} over. Your endpoint accepted
        ${' '}${counted(webhooks, 'webhook')}${status === 'running' && `, ${rate} a second`}.
        ${late > 0 && ` ${counted(late, 'webhook')} wait for a retry.`}
      </p>
      ${
        status === 'stopped' &&
        html`<p class="bad-line">
          It stopped before its end: your endpoint was paused or refused webhooks for too long, or the
          population took too long. <a href=${link('endpoint')}>See your endpoint</a>
        </p>`
      }
      ${!isOver(population) && html`<${Cancel} id=${id} status=${status} />`}
      <dl class="facts">
        <${Fact} name="Borrowers">${size.toLocaleString('en')}<//>
        <${Fact} name="Seed">${seed}<//>
        ${faults && html`<${Fact} name="Faults">The sink refuses one in ${faults.one_in} with ${faults.status}<//>`}
        <${Fact} name="Started"><${Utc} at=${population.requested_at} zone help /><//>
        ${population.ended_at && html`<${Fact} name="Ended"><${Utc} at=${population.ended_at} zone help /><//>`}
        <${Fact} name="Its leads">
          <a href=${link('leads', { search: `POPULATION-${id}-` })}>${`POPULATION-${id}-…`}</a>
        <//>
      </dl>
    </section>
  `
}

/** @param {{ id: number, status: string }} props */
function Cancel({ id, status }) {
  const { busy, error, run } = useAction()
  const path = '/sandbox/cancel-population'
  const body = { population_id: id }
  const cancel = () =>
    run('cancel', async () => {
      await call(path, body)
      touch()
    })
  return html`
    <div class="actions">
      <button type="button" aria-disabled=${busy !== undefined || status !== 'running'} onClick=${cancel}>
        ${status === 'running' ? 'Cancel' : 'Canceling …'}
      </button>
      <${Curls} calls=${[{ label: `POST /v1${path}`, path, body }]} />
    </div>
    <${Failure} error=${error} />
  `
}
