import { html } from '../preact.js'
import { call, offers } from '../api.js'
import { touch } from '../live.js'
import { Failure, useAction } from '../parts.js'
import { link } from '../route.js'
import { counted } from '../words.js'
import { styled } from '../styled.js'
import { Curls } from './curls.js'
import { USE_SINK } from './endpoint-actions.js'

await styled('empty.css')

const toUrl = () => document.querySelector('input[name=url]')

/** Buttons where the words point. @param {{ waiting: number }} props */
export function NoEndpoint({ waiting }) {
  const { busy, error, run } = useAction()
  const useSink = () =>
    run('sink', async () => {
      await call(USE_SINK)
      touch()
    })
  return html`
    <section class="empty" aria-labelledby="no-endpoint">
      <h2 id="no-endpoint">No endpoint yet</h2>
      <p>
        Your webhooks are held until you have
        one${waiting > 0 && html`: <a href=${link('live', { states: 'held' })}>${counted(waiting, 'webhook')}</a>${waiting === 1 ? ' waits' : ' wait'}`}.${' '}
        ${offers(USE_SINK) && 'A sink is a test endpoint that we host: it shows the webhooks it receives, and you choose how it answers.'}
      </p>
      <div class="actions">
        ${
          offers(USE_SINK) &&
          html`<button class="primary" type="button" aria-disabled=${busy !== undefined} onClick=${useSink}>
            ${busy ? 'Working …' : 'Use our sink'}
          </button>`
        }
        <button type="button" onClick=${() => /** @type {HTMLElement | null} */ (toUrl())?.focus()}>
          Set your URL
        </button>
      </div>
      ${offers(USE_SINK) && html`<${Curls} calls=${[{ label: `POST /v1${USE_SINK}`, path: USE_SINK, body: {} }]} />`}
      <${Failure} error=${error} />
    </section>
  `
}
