import { html, useEffect, useState } from './preact.js'
import { ApiFailure } from './api.js'
import { doubt, pause } from './live.js'
import { Failure, Loading } from './parts.js'

const AGAIN_MS = 1000
const TRIES = 3
/** When this tab last reloaded: it does so once a minute at most, not forever. */
const RELOADED = 'reloaded'
const RELOAD_EVERY_MS = 60_000

const isServed = () => fetch('/console', { method: 'HEAD' }).then(({ ok }) => ok, doubt)

/** @param {() => Promise<any>} load @param {AbortSignal} signal @param {(error: Error) => void} tell */
async function persist(load, signal, tell) {
  for (let refusals = 0; refusals < TRIES && !signal.aborted; await pause(AGAIN_MS)) {
    const component = await load().catch(doubt)
    if (component !== undefined) return component
    tell(new ApiFailure({ status: 0, code: 'NOT_LOADED', message: '' }))
    // while the service is away, as often as it takes
    if (await isServed()) refusals += 1
  }
  const age = Date.now() - Number(sessionStorage.getItem(RELOADED))
  if (signal.aborted) return undefined
  if (age >= 0 && age < RELOAD_EVERY_MS) return tell(new Error('This view could not be loaded.'))
  sessionStorage.setItem(RELOADED, String(Date.now()))
  // some browsers remember what failed until then
  return location.reload()
}

/** A component whose file is loaded when it is shown, and what is there until then. @param {() => Promise<any>} load */
export function useLoaded(load) {
  const [Loaded, setLoaded] = useState(/** @type {any} */ (undefined))
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined))
  useEffect(() => {
    const controller = new AbortController()
    void persist(load, controller.signal, setError).then((component) => setLoaded(() => component))
    return () => controller.abort()
  }, [])
  return [Loaded, error ? html`<${Failure} error=${error} again=${reload} />` : html`<${Loading} />`]
}

const reload = () => location.reload()

/** A part of a view that is not always shown. @param {{ load: () => Promise<any> } & Record<string, any>} props */
export function Lazy({ load, ...props }) {
  const [Loaded, meanwhile] = useLoaded(load)
  return Loaded ? html`<${Loaded} ...${props} />` : meanwhile
}
