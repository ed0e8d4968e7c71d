import { html, useEffect, useState } from './preact.js'
import { doubt, pause } from './live.js'
import { Failure, Loading } from './parts.js'

const LONGEST_PAUSE_MS = 3000
/** Although the service is there. */
const TRIES = 3
/** When this tab was, so that a page that cannot be loaded whole is not reloaded for ever. */
const RELOADED = 'reloaded'
const RELOAD_EVERY_MS = 60_000

/** Whether the service is there, which a reload needs. */
const isServed = () =>
  fetch('/console', { method: 'HEAD' }).then(
    ({ ok }) => ok,
    () => false,
  )

/**
 * Loads a component; while the service is away, as often as it takes.
 *
 * @param {() => Promise<any>} load
 * @param {AbortSignal} signal
 * @param {() => void} onFailure each time
 * @returns {Promise<any>} `undefined` if it fails although the service is there
 */
async function persist(load, signal, onFailure) {
  let refusals = 0
  for (let failures = 1; !signal.aborted; failures += 1) {
    const component = await load().catch(() => undefined)
    if (component !== undefined) return component
    onFailure()
    if (failures === 1) doubt()
    if (await isServed()) refusals += 1
    if (refusals === TRIES) return undefined
    await pause(Math.min(LONGEST_PAUSE_MS, 250 * 2 ** failures))
  }
  return undefined
}

/** Some browsers remember what failed until the page is reloaded. Answers whether it is. */
function reloadOnce() {
  const age = Date.now() - Number(sessionStorage.getItem(RELOADED))
  if (age >= 0 && age < RELOAD_EVERY_MS) return false
  sessionStorage.setItem(RELOADED, String(Date.now()))
  location.reload()
  return true
}

/**
 * A component whose file is loaded when it is first shown.
 *
 * @param {(() => Promise<any>) | undefined} load
 * @returns {[component: any, trouble: 'repeated' | 'final' | undefined]}
 */
export function useLoaded(load) {
  const [Loaded, setLoaded] = useState(/** @type {any} */ (undefined))
  const [trouble, setTrouble] = useState(/** @type {'repeated' | 'final' | undefined} */ (undefined))
  useEffect(() => {
    if (load === undefined) return undefined
    const controller = new AbortController()
    const { signal } = controller
    void persist(load, signal, () => setTrouble('repeated')).then((component) => {
      if (signal.aborted) return
      if (component !== undefined) setLoaded(() => component)
      else if (!reloadOnce()) setTrouble('final')
    })
    return () => controller.abort()
  }, [])
  return [Loaded, trouble]
}

/** @param {{ trouble: 'repeated' | 'final' }} props */
export const NotLoaded = ({ trouble }) =>
  trouble === 'final'
    ? html`<${Failure}
        error=${new Error('This view could not be loaded.')}
        again=${() => location.reload()}
      />`
    : html`<p class="failure" role="status">
        <strong>This view could not be loaded: the console keeps trying.</strong>
      </p>`

/** A part of a view that is not always shown. @param {{ load: () => Promise<any> } & Record<string, any>} props */
export function Lazy({ load, ...props }) {
  const [Loaded, trouble] = useLoaded(load)
  if (Loaded !== undefined) return html`<${Loaded} ...${props} />`
  return trouble === undefined ? html`<${Loading} />` : html`<${NotLoaded} trouble=${trouble} />`
}
