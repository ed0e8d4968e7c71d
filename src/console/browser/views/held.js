import { html } from '../preact.js'
import { link } from '../route.js'

/** Why webhooks of a lead are held. @param {{ endpoint: { url: string | null, reason: string } }} props */
export const Held = ({ endpoint: { url, reason } }) => html`
  <p class="note">
    Held: ${url === null ? 'you have no endpoint yet' : `your endpoint is paused, because ${reason}`}.${' '}
    <a href=${link('endpoint')}>${url === null ? 'Set one up' : 'See your endpoint'}</a>
  </p>
`
