import { html } from '../preact.js'
import { call } from '../api.js'
import { Fields, problemsOf, Refusal, useValues, useWrongField } from '../fields.js'
import { touch } from '../live.js'
import { useAction } from '../parts.js'
import { go, link } from '../route.js'
import { words } from '../words.js'
import { Curls } from './curls.js'

const PATH = '/sandbox/run-population'

/** How many of a hundred, and what the borrower does. @type {Record<string, [of: string, what: string]>} */
const kinds = {
  steady_climb: ['30', 'Mortgage ready after a year.'],
  steep_climb: ['15', 'Ready after two or three score updates.'],
  slow_climb: ['15', 'Scores go up and down.'],
  stalled: ['12', 'Stops before the escrow account is funded.'],
  closed: ['10', 'Closed at a step, for any reason.'],
  chatty: ['6', 'Many chats, which send no webhooks.'],
  late_milestones: ['5', 'Two milestones in the wrong order.'],
  repeated_milestones: ['5', 'Each milestone is reported twice.'],
  erased: ['2', 'Erased at a step.'],
}
const usual = Object.fromEntries(Object.entries(kinds).map(([kind, [of]]) => [kind, of]))

/** @typedef {import('../fields.js').FormField} FormField */

/** @type {FormField[]} */
const amounts = [
  { name: 'size', label: 'Borrowers, up to 1,000', type: 'number' },
  { name: 'seed', label: 'Seed (optional)', type: 'number', hint: 'The same seed makes the same journeys.' },
  {
    name: 'one_in',
    label: 'Refuse one webhook in … (optional)',
    type: 'number',
    hint: 'For example, 20 refuses about one in 20, at random. Your endpoint must be our sink.',
  },
]
/** @type {FormField[]} */
const weights = Object.entries(kinds).map(([name, [, hint]]) => ({
  name,
  label: words(name),
  type: 'number',
  hint,
}))
const fields = [...amounts, ...weights]

/** `mix.closed` is the field `closed`; without the sink, `faults` is wrong as a whole. @param {string} path */
const nameOf = (path) => (path === 'faults' ? 'one_in' : path.replace(/^(mix|faults)\./, ''))

/** @typedef {Record<string, string>} Texts */

/** What the form asks for: what is left empty, and the usual mix, are left out. @param {Texts} values */
function bodyOf({ size = '', seed = '', one_in: oneIn = '', ...mix }) {
  const isUsual = Object.keys(kinds).every((kind) => mix[kind] === usual[kind])
  const drawn = Object.entries(mix).filter(([, of]) => Number(of) !== 0)
  return {
    size: Number(size),
    ...(seed !== '' && { seed: Number(seed) }),
    ...(!isUsual && { mix: Object.fromEntries(drawn.map(([kind, of]) => [kind, Number(of)])) }),
    ...(oneIn !== '' && { faults: { one_in: Number(oneIn) } }),
  }
}

/** Starts a population. */
export function RunPopulation() {
  const { values, change } = useValues({ size: '30', seed: '', one_in: '', ...usual })
  const { busy, error, run } = useAction()
  const problems = problemsOf(error, fields, nameOf)
  const form = useWrongField(error)
  const body = bodyOf(values)
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
        Each borrower is a lead that goes through a year within seconds, on a clock of its own. The webhooks
        go to your endpoint.
      </p>
      <form ref=${form} onSubmit=${submit} novalidate>
        <${Fields} fields=${amounts} values=${values} problems=${problems} onInput=${change} />
        <details class="more">
          <summary>Journeys</summary>
          <p class="hint">How often each is drawn, in proportion to the others.</p>
          <${Fields} fields=${weights} values=${values} problems=${problems} onInput=${change} />
        </details>
        <${Refusal} what="Not started" error=${error} problems=${problems} fields=${fields} />
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
    </section>
  `
}
