import { html, render, useEffect, useState } from './preact.js'
import { forgetKey, onRefused, readKey, storeKey } from './api.js'
import { startLive, stopLive, useLive } from './live.js'
import { link, useRoute } from './route.js'
import { EndpointView } from './views/endpoint.js'
import { LeadView } from './views/lead.js'
import { LeadsView } from './views/leads.js'
import { LiveView } from './views/live.js'
import { NewLeadView } from './views/new-lead.js'
import { refuseKey, SignIn } from './views/sign-in.js'

const views = [
  { name: 'leads', title: 'Leads', link: 'leads' },
  { name: 'live', title: 'Live', link: 'live' },
  { name: 'endpoint', title: 'Endpoint', link: 'endpoint' },
]

/** A key in the fragment (`#key=…`) is taken, and removed from the address and the history at once. */
function takeKeyFromFragment() {
  const [, key] = /^#key=([^&]*)/.exec(location.hash) ?? []
  if (key === undefined) return ''
  history.replaceState(null, '', location.pathname)
  const typed = decodeURIComponent(key).trim()
  const refusal = refuseKey(typed)
  if (refusal === '') storeKey(typed)
  return refusal
}

/** @param {{ refusal: string }} props */
function App({ refusal }) {
  const [key, setKey] = useState(readKey)
  const [reason, setReason] = useState(refusal)
  /** @param {string} why */
  const signOut = (why) => {
    stopLive()
    forgetKey()
    setReason(why)
    setKey(null)
  }
  useEffect(() => onRefused((message) => signOut(`You have been signed out. ${message}`)), [])
  useEffect(() => {
    if (key !== null) startLive()
  }, [key])
  if (key === null) return html`<${SignIn} reason=${reason} onKey=${setKey} />`
  return html`<${Shell} partnerKey=${key} onSignOut=${() => signOut('')} />`
}

/** @param {{ partnerKey: string, onSignOut: () => void }} props */
function Shell({ partnerKey, onSignOut }) {
  const route = useRoute()
  const place = `${route.name}/${route.id}`
  useEffect(() => {
    // a screen reader hears where it is; whoever only filters stays where they are
    const heading = document.querySelector('h1')
    if (heading === null) return
    document.title = `${heading.textContent} · Partner Referral Service`
    heading.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [place])
  const skip = (/** @type {Event} */ event) => {
    event.preventDefault()
    document.querySelector('h1')?.focus()
  }
  return html`
    <a class="skip" href="#/" onClick=${skip}>Skip to content</a>
    <header class="top">
      <div class="bar">
        <a class="brand" href=${link('leads')}>
          <img src="/console/icon.svg" alt="" width="26" height="26" /><span>Referrals</span>
        </a>
        <nav aria-label="Main">
          ${views.map(
            ({ name, title, link: path }) =>
              html`<a href=${link(path)} aria-current=${route.name === name ? 'page' : undefined}
                >${title}</a
              >`,
          )}
        </nav>
        <div class="account">
          <${LiveMark} />
          <span class="key" title="Kept in this tab only"
            >${partnerKey.slice(0, 9)}…${partnerKey.slice(-4)}</span
          >
          <button type="button" class="small quiet" onClick=${onSignOut}>Sign out</button>
        </div>
      </div>
    </header>
    <main id="content"><${View} route=${route} key=${place} /></main>
    <footer class="foot">
      <span>Sandbox</span><a href="/docs">API reference</a><a href="/v1/openapi.json">OpenAPI</a>
    </footer>
  `
}

const liveWords = { connecting: 'Connecting', live: 'Live', resting: 'Resting', retrying: 'Reconnecting' }

function LiveMark() {
  const { state } = useLive()
  return html`<span class=${`livemark ${state}`} role="status"><i></i><span>${liveWords[state]}</span></span>`
}

/** @param {{ route: import('./route.js').Route }} props */
function View({ route }) {
  const { name, id, query } = route
  if (name === 'leads' && id === 'new') return html`<${NewLeadView} />`
  if (name === 'leads' && id !== '') return html`<${LeadView} id=${Number(id)} query=${query} />`
  if (name === 'leads') return html`<${LeadsView} query=${query} />`
  if (name === 'endpoint') return html`<${EndpointView} />`
  if (name === 'live') return html`<${LiveView} query=${query} />`
  return html`<h1 tabindex="-1">Page not found</h1>
    <p>There is no such page. <a href=${link('leads')}>See your leads</a>.</p>`
}

const refusal = takeKeyFromFragment()
const root = document.querySelector('#app')
if (root instanceof HTMLElement) render(html`<${App} refusal=${refusal} />`, root)
