import { html, useContext } from './preact.js'
import { Ahead, useNow } from './parts.js'
import { distance, inZone, isFarAhead, parseTime } from './time.js'

/**
 * A time in UTC, in the one form that the API has. How far away it is, and the reader's own time, help on hover.
 *
 * @param {{ at: string, zone?: boolean, isReal?: boolean, help?: boolean }} props
 *   `zone`: says UTC, where no heading does. `isReal`: real time, although the page follows a lead's clock.
 *   `help`: how far away it is can be read beside it.
 */
export function Utc({ at, zone = false, isReal = false, help = false }) {
  const now = useNow()
  const ahead = useContext(Ahead)
  const date = parseTime(at)
  const away = distance(date, Math.max(now, Date.now()) + (isReal ? 0 : ahead))
  const clock = isFarAhead(ahead) && !isReal ? ', by its clock' : ` · ${inZone(date)} in your time zone`
  return html`
    <time datetime=${date.toISOString()} title=${`${away}${clock}`}>${at}${zone && ' UTC'}</time>
    ${help && html` <span class="dim">(${away})</span>`}
  `
}
