import { html, render, useEffect, useLayoutEffect, useState } from './preact.js'
import { forgetKey, KEY_NOT_ACCEPTED, onRefused, readKey, shortened, storeKey } from './api.js'
import { keepFocus } from './focus.js'
import { takeLinkKey } from './keys.js'
import { startLive, stopLive, useLive } from './live.js'
import { NotFound, Question } from './parts.js'
import { link, useRoute } from './route.js'
import { EndpointView } from './views/endpoint.js'
import { LeadView } from './views/lead.js'
import { LeadsView } from './views/leads.js'
import { LiveView } from './views/live.js'
import { NewLeadView } from './views/new-lead.js'
import { SignIn } from './views/sign-in.js'

/** Live comes last: from a page's heading, it is the nearest for the keyboard. @type {Record<string, any>} */
const places = { Leads: LeadsView, Endpoint: EndpointView, Live: LiveView }

/** @param {{ name: string, id: string }} route */
function viewOf({ name, id }) {
  if (name === 'leads' && id !== '') return id === 'new' ? NewLeadView : LeadView
  const title = Object.keys(places).find((place) => place.toLowerCase() === name && id === '')
  return places[title ?? ''] ?? NoView
}

const NoView = () => html`<${NotFound} title="Page not found">There is no such page.<//>`

/** @param {{ refusal?: string, offered?: string }} props of a key in a link */
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
  const use = (/** @type {string} */ other) => {
    storeKey(other)
    location.reload()
  }
  if (key === null) return html`<${SignIn} reason=${reason} onKey=${enter} />`
  return html`
    <${Shell} partnerKey=${key} onSignOut=${() => signOut('')}>
      ${
        question !== undefined &&
        html`<${Question}
          title="Replace your key?"
          text=${html`The link contains the key <code>${shortened(question)}</code>, and you are signed in
            with ${' '}<code>${shortened(key)}</code>. Use the link’s key only if the link is yours: you would
            see and change the data of its partner.`}
          keep="Stay signed in"
          onKeep=${() => setQuestion(undefined)}
          use="Use the other key"
          onUse=${() => use(question)}
        />`
      }
      ${reason !== '' && html`<div class="failure" role="alert"><p>${reason}</p></div>`}
    <//>
  `
}

const focusHeading = () => document.querySelector('h1')?.focus({ preventScroll: true })

/** @param {{ partnerKey: string, onSignOut: () => void, children?: any }} props */
function Shell({ partnerKey, onSignOut, children }) {
  const route = useRoute()
  const View = viewOf(route)
  const place = `${route.name}/${route.id}`
  // at once: later, it would interrupt typing; a screen reader says the heading
  useLayoutEffect(() => {
    focusHeading()
    scrollTo(0, 0)
  }, [place])
  const skip = (/** @type {Event} */ event) => {
    event.preventDefault()
    focusHeading()
  }
  return html`
    <header class="top">
      <a class="hidden" href="#/" onClick=${skip}>Skip to content</a>
      <div class="bar">
        <a class="brand" href=${link('leads')}>
          <img src="/console/icon.svg" alt="" width="26" height="26" /><span>Referrals</span>
        </a>
        <nav aria-label="Main">
          ${Object.keys(places).map((title) => {
            const name = title.toLowerCase()
            const current = route.name === name ? 'page' : undefined
            return html`<a href=${link(name)} aria-current=${current}>${title}</a>`
          })}
        </nav>
        <div class="account">
          <${LiveMark} />
          <span class="key" title="Kept in this tab only">${shortened(partnerKey)}</span>
          <button type="button" class="small quiet" onClick=${onSignOut}>Sign out</button>
        </div>
      </div>
    </header>
    <main id="content">${children}<${View} key=${place} id=${Number(route.id)} query=${route.query} /></main>
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

const root = /** @type {HTMLElement} */ (document.querySelector('#app'))
let visits = 0

/** Shows the console. A key in the fragment leaves address and history at once. */
function start() {
  const [, key] = /^#key=([^&]*)/.exec(location.hash) ?? []
  if (key === undefined && visits > 0) return
  if (key !== undefined) history.replaceState(null, '', location.pathname)
  visits += 1
  stopLive()
  render(html`<${App} key=${visits} ...${key === undefined ? {} : takeLinkKey(key)} />`, root)
}

// A pasted link changes only the fragment. This comes before the views' listeners, which would take the key for a route.
globalThis.addEventListener('hashchange', start)
start()
keepFocus(root)
