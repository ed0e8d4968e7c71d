import { html } from '../preact.js'
import { Reset } from './reset.js'

export const SandboxView = () => html`
  <div class="head"><h1 tabindex="-1">Sandbox</h1></div>
  <div class="stack narrow"><${Reset} /></div>
`
