import { html, render, useEffect, useRef, useState } from './preact.js'
import { forgetKey, offers, onRefused, readKey, refuseKey, shortened, storeKey } from './api.js'
import { keepFocus } from './focus.js'
import { doubt, startLive, stopLive, useLive } from './live.js'
import { Loading } from './parts.js'
import { link, useRoute } from './route.js'

const places = [
  { name: 'leads', title: 'Leads' },
  { name: 'live', title: 'Live' },
  { name: 'endpoint', title: 'Endpoint' },
  { name: 'requests', title: 'Requests', needs: '/list-requests' },
].filter(({ needs }) => needs === undefined || offers(needs))

/** Each view's files are loaded when it is first opened. @type {Record<string, () => Promise<any>>} */
const views = {
  leads: async () => (await import('./views/leads.js')).LeadsView,
  'leads/new': async () => (await import('./views/new-lead.js')).NewLeadView,
  lead: async () => (await import('./views/lead.js')).LeadView,
  endpoint: async () => (await import('./views/endpoint.js')).EndpointView,
  live: async () => (await import('./views/live.js')).LiveView,
  requests: async () => (await import('./views/requests.js')).RequestsView,
}

/** @param {import('./route.js').Route} route */
function viewOf({ name, id }) {
  const path = id === '' ? name : `${name}/${id}`
  return path.startsWith('leads/') && !Object.hasOwn(views, path) ? 'lead' : path
}

/** A stray `%` stands for itself. @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * A key in the fragment leaves address and history at once. It is taken unless this tab has another one.
 *
 * @returns {{ refusal?: string, offered?: string } | undefined} `offered`: the key to ask about
 */
function takeKeyFromFragment() {
  const [, key] = /^#key=([^&]*)/.exec(location.hash) ?? []
  if (key === undefined) return undefined
  history.replaceState(null, '', location.pathname)
  const typed = decoded(key).trim()
  const refusal = refuseKey(typed)
  const stored = readKey()
  if (stored === null && refusal === '') storeKey(typed)
  if (stored === null || stored === typed) return { refusal }
  return refusal === '' ? { offered: typed } : { refusal }
}

/** @param {{ refusal?: string, offered?: string }} props */
function App({ refusal = '', offered }) {
  const [key, setKey] = useState(readKey)
  const [question, setQuestion] = useState(offered)
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
  if (key === null) return html`<${SignedOut} reason=${reason} onKey=${setKey} />`
  const use = (/** @type {string} */ other) => {
    stopLive()
    storeKey(other)
    location.reload()
  }
  return html`
    <${Shell} partnerKey=${key} onSignOut=${() => signOut('')}>
      ${
        question !== undefined &&
        html`<${KeyQuestion}
          own=${key}
          offered=${question}
          onUse=${() => use(question)}
          onKeep=${() => setQuestion(undefined)}
        />`
      }
      ${question === undefined && reason !== '' && html`<div class="failure" role="alert"><p>${reason}</p></div>`}
    <//>
  `
}

/** @param {import('./views/key-question.js').Question} props */
function KeyQuestion(props) {
  const [Loaded] = useLoaded(async () => (await import('./views/key-question.js')).KeyQuestion)
  return Loaded && html`<${Loaded} ...${props} />`
}

/** @param {{ partnerKey: string, onSignOut: () => void, children?: any }} props */
function Shell({ partnerKey, onSignOut, children }) {
  const route = useRoute()
  const place = `${route.name}/${route.id}`
  const skip = (/** @type {Event} */ event) => {
    event.preventDefault()
    document.querySelector('h1')?.focus()
  }
  return html`
    <header class="top">
      <a class="skip" href="#/" onClick=${skip}>Skip to content</a>
      <div class="bar">
        <a class="brand" href=${link('leads')}>
          <img src="/console/icon.svg" alt="" width="26" height="26" /><span>Referrals</span>
        </a>
        <nav aria-label="Main">
          ${places.map(
            ({ name, title }) =>
              html`<a href=${link(name)} aria-current=${route.name === name ? 'page' : undefined}
                >${title}</a
              >`,
          )}
        </nav>
        <div class="account">
          <${LiveMark} />
          <span class="key" title="Kept in this tab only">${shortened(partnerKey)}</span>
          <button type="button" class="small quiet" onClick=${onSignOut}>Sign out</button>
        </div>
      </div>
    </header>
    <main id="content">${children}<${View} route=${route} key=${place} /></main>
    <footer class="foot">
      <span>Sandbox</span><a href="/docs/integrate">Guides</a><a href="/docs">API reference</a
      ><a href="/v1/openapi.json">OpenAPI</a>
    </footer>
  `
}

const liveWords = { connecting: 'Connecting', live: 'Live', resting: 'Resting', retrying: 'Reconnecting' }

function LiveMark() {
  const { state } = useLive()
  return html`<span class=${`livemark ${state}`} role="status"><i></i><span>${liveWords[state]}</span></span>`
}

/**
 * A component whose file is loaded when it is first shown, and whether that failed: the page is then reloaded once the
 * service is back.
 *
 * @param {(() => Promise<any>) | undefined} load
 * @returns {[component: any, failed: boolean]}
 */
function useLoaded(load) {
  const [Loaded, setLoaded] = useState(/** @type {any} */ (undefined))
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    load?.().then(
      (component) => setLoaded(() => component),
      () => {
        setFailed(true)
        doubt()
      },
    )
  }, [])
  const { state } = useLive()
  const wasAway = useRef(false)
  useEffect(() => {
    if (failed && state === 'retrying') wasAway.current = true
    if (wasAway.current && state === 'live') location.reload()
  }, [failed, state])
  return [Loaded, failed]
}

const NotLoaded = () => html`
  <p class="failure">
    This view could not be loaded. Check that the service is running and that you are online: it is loaded
    once the service answers.
  </p>
`

/** @param {{ route: import('./route.js').Route }} props */
function View({ route }) {
  const name = viewOf(route)
  const [Loaded, failed] = useLoaded(Object.hasOwn(views, name) ? views[name] : async () => NoView)
  useEffect(() => {
    // a screen reader hears where it is
    const heading = document.querySelector('h1')
    if (heading === null) return
    document.title = `${heading.textContent} · Partner Referral Service`
    heading.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [Loaded])
  if (failed) return html`<${NotLoaded} />`
  if (Loaded === undefined) return html`<${Loading} />`
  return html`<${Loaded} id=${Number(route.id)} query=${route.query} />`
}

/** @param {{ reason: string, onKey: (key: string) => void }} props */
function SignedOut(props) {
  const [SignIn, failed] = useLoaded(async () => (await import('./views/sign-in.js')).SignIn)
  if (failed) return html`<${NotLoaded} />`
  return SignIn === undefined ? html`<${Loading} />` : html`<${SignIn} ...${props} />`
}

const NoView = () => html`
  <h1 tabindex="-1">Page not found</h1>
  <p>There is no such page. <a href=${link('leads')}>See your leads</a>.</p>
`

const root = /** @type {HTMLElement} */ (document.querySelector('#app'))
let visits = 0

/** @param {{ refusal?: string, offered?: string }} taken */
function start(taken) {
  visits += 1
  render(html`<${App} key=${visits} ...${taken} />`, root)
}

// A pasted link changes only the fragment. This comes before the views' listeners, which would take the key for a route.
globalThis.addEventListener('hashchange', () => {
  const taken = takeKeyFromFragment()
  if (taken === undefined) return
  stopLive()
  start(taken)
})
start(takeKeyFromFragment() ?? {})
keepFocus(root)
