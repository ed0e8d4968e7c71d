import { html } from '../preact.js'
import { link } from '../route.js'
import { hasSinks } from '../service.js'
import { counted } from '../words.js'
import { Actions } from './actions.js'
import { ABOUT_SINK, useSink } from './endpoint-actions.js'

const toUrl = () => /** @type {HTMLElement | null} */ (document.querySelector('input[name=url]'))?.focus()

/** Buttons where the words point. @param {{ waiting: number }} props */
export const NoEndpoint = ({ waiting }) => html`
  <section class="empty" aria-labelledby="no-endpoint">
    <h2 id="no-endpoint">No endpoint yet</h2>
    <p>
      Your webhooks are held until you have
      one${waiting > 0 && html`: <a href=${link('live', { states: 'held' })}>${counted(waiting, 'webhook')}</a>${waiting === 1 ? ' waits' : ' wait'}`}.${' '}
      ${hasSinks && ABOUT_SINK}
    </p>
    ${hasSinks && html`<${Actions} actions=${[{ ...useSink, isFirst: true }]} />`}
    <button type="button" onClick=${toUrl}>Set your URL</button>
  </section>
`
