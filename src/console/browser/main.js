import { html, render, useEffect, useLayoutEffect, useState } from './preact.js'
import { forgetKey, KEY_NOT_ACCEPTED, onRefused, readKey, shortened, storeKey } from './api.js'
import { keepFocus } from './focus.js'
import { Lazy, useLoaded } from './lazy.js'
import { startLive, stopLive, useLive } from './live.js'
import { link, useRoute } from './route.js'

/** @import { Route } from './types.js' */

/** What happens now comes last: from a page's heading, it is the nearest for the keyboard. */
const places = [
  { name: 'leads', title: 'Leads' },
  { name: 'endpoint', title: 'Endpoint' },
  { name: 'live', title: 'Live' },
]

/** Each view's files are loaded when it is first opened. @type {Record<string, () => Promise<any>>} */
const views = {
  leads: async () => (await import('./views/leads.js')).LeadsView,
  'leads/new': async () => (await import('./views/new-lead.js')).NewLeadView,
  'leads/:id': async () => (await import('./views/lead.js')).LeadView,
  endpoint: async () => (await import('./views/endpoint.js')).EndpointView,
  live: async () => (await import('./views/live.js')).LiveView,
}

const signIn = async () => (await import('./views/sign-in.js')).SignIn
const keyQuestion = async () => (await import('./views/key-question.js')).KeyQuestion
const considered = (/** @type {string} */ key) =>
  import('./keys.js').then(
    ({ consider }) => consider(key),
    () => ({ refusal: 'The API did not answer. Open the link again.' }),
  )
const noView = async () => (await import('./views/not-found.js')).NoView

/** @param {Route} route */
function viewOf({ name, id }) {
  const path = id === '' ? name : `${name}/${id}`
  return path.startsWith('leads/') && !Object.hasOwn(views, path) ? 'leads/:id' : path
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
  useEffect(() => onRefused(() => signOut(KEY_NOT_ACCEPTED)), [])
  useEffect(() => {
    if (key !== null) startLive()
  }, [key])
  const enter = (/** @type {string} */ accepted) => {
    setReason('')
    setKey(accepted)
  }
  if (key === null) return html`<${Lazy} load=${signIn} reason=${reason} onKey=${enter} />`
  const use = (/** @type {string} */ other) => {
    stopLive()
    storeKey(other)
    location.reload()
  }
  return html`
    <${Shell} partnerKey=${key} onSignOut=${() => signOut('')}>
      ${
        question !== undefined &&
        html`<${Lazy}
          load=${keyQuestion}
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
      <span>Sandbox</span><a href="/docs">API reference</a><a href="/v1/openapi.json">OpenAPI</a>
    </footer>
  `
}

const liveWords = { connecting: 'Connecting', live: 'Live', resting: 'Resting', retrying: 'Reconnecting' }

function LiveMark() {
  const { state, unanswered } = useLive()
  const shown = unanswered > 0 && state === 'live' ? 'retrying' : state
  return html`<span class=${`livemark ${shown}`} role="status"><i></i><span>${liveWords[shown]}</span></span>`
}

/** @param {{ route: Route }} props */
function View({ route }) {
  const name = viewOf(route)
  const [Loaded, meanwhile] = useLoaded((Object.hasOwn(views, name) && views[name]) || noView)
  // at once: whoever types on is not taken back
  useLayoutEffect(() => {
    // a screen reader hears where it is
    const heading = document.querySelector('h1')
    if (heading === null) return
    heading.focus({ preventScroll: true })
    scrollTo(0, 0)
  }, [Loaded])
  return Loaded ? html`<${Loaded} id=${Number(route.id)} path=${name} query=${route.query} />` : meanwhile
}

const root = /** @type {HTMLElement} */ (document.querySelector('#app'))
let visits = 0

/** @param {{ refusal?: string, offered?: string }} taken */
function start(taken) {
  visits += 1
  render(html`<${App} key=${visits} ...${taken} />`, root)
}

/** A key in the fragment leaves address and history at once. */
function takeKey() {
  const [, key] = /^#key=([^&]*)/.exec(location.hash) ?? []
  if (key !== undefined) history.replaceState(null, '', location.pathname)
  return key
}

// A pasted link changes only the fragment. This comes before the views' listeners, which would take the key for a route.
globalThis.addEventListener('hashchange', () => {
  const key = takeKey()
  if (key === undefined) return
  void considered(key).then((taken) => {
    stopLive()
    start(taken)
  })
})
const linked = takeKey()
start(linked === undefined ? {} : await considered(linked))
keepFocus(root)
