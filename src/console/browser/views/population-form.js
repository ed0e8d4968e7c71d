import { html, useState } from '../preact.js'
import { call } from '../api.js'
import { touch } from '../live.js'
import { Failure, useAction } from '../parts.js'
import { go, link } from '../route.js'
import { words } from '../words.js'
import { Curls } from './curls.js'

const PATH = '/sandbox/run-population'

/** How many of a hundred, and what the borrower does. @type {Record<string, [of: string, what: string]>} */
const kinds = {
  steady_climb: ['30', 'mortgage ready after a year'],
  steep_climb: ['15', 'ready after two or three score updates'],
  slow_climb: ['15', 'scores go up and down'],
  stalled: ['12', 'stops before the escrow account is funded'],
  closed: ['10', 'closed at a step, for any reason'],
  chatty: ['6', 'many chats, which are no webhooks'],
  late_milestones: ['5', 'two milestones in the wrong order'],
  repeated_milestones: ['5', 'each milestone is reported twice'],
  erased: ['2', 'erased at a step'],
}
const usual = Object.fromEntries(Object.entries(kinds).map(([kind, [of]]) => [kind, of]))

/** @typedef {Record<string, string>} Texts */

/** What the form asks for: what is left empty, and the usual mix, are left out. @param {Texts} values @param {Texts} mix */
function bodyOf({ size = '', seed = '', one_in: oneIn = '' }, mix) {
  const isUsual = Object.keys(kinds).every((kind) => mix[kind] === usual[kind])
  const drawn = Object.entries(mix).filter(([, of]) => Number(of) > 0)
  return {
    size: Number(size),
    ...(seed !== '' && { seed: Number(seed) }),
    ...(!isUsual && { mix: Object.fromEntries(drawn.map(([kind, of]) => [kind, Number(of)])) }),
    ...(oneIn !== '' && { faults: { one_in: Number(oneIn) } }),
  }
}

/** Starts a population. */
export function RunPopulation() {
  const [values, setValues] = useState(/** @type {Texts} */ ({ size: '30', seed: '', one_in: '' }))
  const [mix, setMix] = useState(usual)
  const { busy, error, run } = useAction()
  const body = bodyOf(values, mix)
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    void run('run', async () => {
      await call(PATH, body, { headers: { 'idempotency-key': crypto.randomUUID() } })
      go(link('sandbox/population'))
      touch()
    })
  }
  return html`
    <section class="card pad" aria-labelledby="run">
      <h2 id="run">Run a population</h2>
      <p class="dim">
        Each borrower is a lead with a year on its own clock, in seconds. Webhooks go to your endpoint or
        sink.
      </p>
      <form onSubmit=${submit} novalidate>
        <div class="grid-form">
          <${NumberField} name="size" label="Borrowers, up to 1,000" texts=${values} change=${setValues} />
          <${NumberField}
            name="seed"
            label="Seed (optional)"
            texts=${values}
            change=${setValues}
            hint="The same one makes the same journeys"
          />
          <${NumberField}
            name="one_in"
            label="Refuse every n-th webhook (optional)"
            texts=${values}
            change=${setValues}
            hint="For example 20. Needs our sink as your endpoint."
          />
        </div>
        <details class="more">
          <summary>Journeys</summary>
          <div class="grid-form">
            ${Object.entries(kinds).map(
              ([kind, [, what]]) =>
                html`<${NumberField}
                  key=${kind}
                  name=${kind}
                  label=${words(kind)}
                  texts=${mix}
                  change=${setMix}
                  hint=${what}
                />`,
            )}
          </div>
        </details>
        <div class="actions">
          <button
            type="submit"
            class="primary"
            disabled=${values.size === ''}
            aria-disabled=${busy !== undefined}
          >
            ${busy ? 'Starting …' : 'Run population'}
          </button>
          <${Curls} calls=${[{ label: `POST /v1${PATH}`, path: PATH, body }]} />
        </div>
      </form>
      <${Failure} error=${error} />
    </section>
  `
}

/** @param {{ name: string, label: string, texts: Texts, change: (texts: Texts) => void, hint?: string }} props */
const NumberField = ({ name, label, texts, change, hint }) => html`
  <label
    ><span>${label}</span>
    <input
      name=${name}
      type="number"
      min="0"
      value=${texts[name]}
      onInput=${(/** @type {InputEvent} */ event) => change({ ...texts, [name]: /** @type {HTMLInputElement} */ (event.currentTarget).value })}
    />
    ${hint && html`<span class="hint">${hint}</span>`}
  </label>
`
