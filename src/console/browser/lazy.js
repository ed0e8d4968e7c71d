import { html, useEffect, useRef, useState } from './preact.js'
import { doubt, useLive } from './live.js'
import { Loading } from './parts.js'

/**
 * A component whose file is loaded when it is first shown, and whether that failed: the page is then reloaded once the
 * service is back.
 *
 * @param {(() => Promise<any>) | undefined} load
 * @returns {[component: any, failed: boolean]}
 */
export function useLoaded(load) {
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

export const NotLoaded = () =>
  html`<p class="failure">
    <strong>This view could not be loaded: the console keeps trying.</strong>
  </p>`

/** A part of a view that is not always shown. @param {{ load: () => Promise<any> } & Record<string, any>} props */
export function Lazy({ load, ...props }) {
  const [Loaded, failed] = useLoaded(load)
  if (failed) return html`<${NotLoaded} />`
  return Loaded === undefined ? html`<${Loading} />` : html`<${Loaded} ...${props} />`
}
