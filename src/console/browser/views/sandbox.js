import { html } from '../preact.js'
import { offers } from '../api.js'
import { link } from '../route.js'
import { Reset } from './reset.js'

/** What else a sandbox can do, if the service has it. */
const pages = [
  {
    path: 'endpoint/rehearsal',
    needs: '/sandbox/rehearse-endpoint',
    title: 'Rehearsal',
    about:
      'Your endpoint gets webhooks as they come on bad days: repeated, late, cut off. For each check, you see what to change.',
  },
].filter(({ needs }) => offers(needs))

export const SandboxView = () => html`
  <div class="head"><h1 tabindex="-1">Sandbox</h1></div>
  <div class="stack narrow">
    ${pages.map(
      ({ path, title, about }) => html`
        <section class="card pad" key=${path} aria-labelledby=${path}>
          <h2 id=${path}>${title}</h2>
          <p>${about}</p>
          <div class="actions"><a class="button" href=${link(path)}>${`Open ${title.toLowerCase()}`}</a></div>
        </section>
      `,
    )}
    ${offers('/sandbox/reset-sandbox') && html`<${Reset} />`}
  </div>
`
