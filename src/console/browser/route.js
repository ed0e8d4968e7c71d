import { useEffect, useState } from './preact.js'

/** `#/leads/12?event=evt_…` → `{ name: 'leads', id: '12', query }`. @param {string} hash */
function parseRoute(hash) {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [name = '', id = ''] = path.split('/')
  return { name: name || 'leads', id, query: new URLSearchParams(query) }
}

/**
 * @param {string} path such as `leads/12`
 * @param {Record<string, string | undefined>} [query] without what is empty
 */
export function link(path, query = {}) {
  const present = Object.entries(query).filter(([, value]) => value)
  const text = new URLSearchParams(/** @type {[string, string][]} */ (present)).toString()
  return `#/${path}${text === '' ? '' : `?${text}`}`
}

/** Changes the address without a step in the history, as for a filter that is being typed. @param {string} hash */
export function replace(hash) {
  history.replaceState(null, '', hash)
  globalThis.dispatchEvent(new HashChangeEvent('hashchange'))
}

/** The route in the address bar: the back button works because it is the only state there is. */
export function useRoute() {
  const [route, setRoute] = useState(() => parseRoute(location.hash))
  useEffect(() => {
    const onChange = () => setRoute(parseRoute(location.hash))
    globalThis.addEventListener('hashchange', onChange)
    return () => globalThis.removeEventListener('hashchange', onChange)
  }, [])
  return route
}
