import { html, useState } from '../preact.js'
import { call } from '../api.js'
import { Select } from '../inputs.js'
import { touch } from '../live.js'
import { Failure, useAction } from '../parts.js'
import { closeReasons } from '../service.js'
import { words } from '../words.js'
import { Curls } from './curls.js'
import { Question } from './question.js'

/** Closes a lead: for good, so it asks before. @param {{ id: number }} props */
export function Close({ id }) {
  const [reason, choose] = useState(closeReasons[0] ?? '')
  const [isAsked, ask] = useState(false)
  const { busy, error, run, clear } = useAction()
  const body = { lead_id: id, reason }
  const end = () => {
    ask(false)
    clear()
  }
  const close = () =>
    run('close', async () => {
      await call('/close-lead', body)
      ask(false)
      touch()
    })
  const action = html`
    <button type="button" class="danger" aria-disabled=${busy !== undefined} onClick=${close}>
      ${busy === undefined ? 'Close the lead' : 'Closing …'}
    </button>
    <${Failure} error=${error} />
  `
  return html`
    <h3>Close it</h3>
    <${Select}
      label="Reason"
      value=${reason}
      options=${closeReasons.map((name) => [name, words(name)])}
      onValue=${choose}
    />
    <div class="actions"><button type="button" onClick=${() => ask(true)}>Close the lead …</button></div>
    <${Curls} calls=${[{ path: '/close-lead', body }]} />
    ${
      isAsked &&
      html`<${Question} title=${`Close lead ${id}?`} keep="Keep it open" onKeep=${end} action=${action}>
        It stays closed: no more milestones are recorded, and its clock stops. Webhooks that wait are still
        sent.
      <//>`
    }
  `
}
