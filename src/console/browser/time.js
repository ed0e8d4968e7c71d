import { createContext, html, useContext, useEffect, useState } from './preact.js'
import { counted } from './words.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const TICK_MS = 5 * SECOND

/** The API's times are `YYYY-MM-DD HH:MM:SS`, UTC. @param {string} text */
export const parseTime = (text) => new Date(`${text.replace(' ', 'T')}Z`)

/** As the API writes it. @param {number} ms since 1970 */
export const inUtc = (ms) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')

/** Whether a time of the API is still to come. @param {string | null} text */
export const isAhead = (text) => text !== null && parseTime(text).getTime() > Date.now()

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const inZone = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })

/** `now`, `3 minutes ago`, `in 2 hours`, `in 45 days`. @param {number} ms from now */
function distance(ms) {
  const size = Math.abs(ms)
  if (size < 5 * SECOND) return 'now'
  if (size < MINUTE) return relative.format(Math.trunc(ms / SECOND), 'second')
  if (size < HOUR) return relative.format(Math.trunc(ms / MINUTE), 'minute')
  if (size < DAY) return relative.format(Math.trunc(ms / HOUR), 'hour')
  return relative.format(Math.round(ms / DAY), 'day')
}

/** `35 minutes`, `2 hours`, `45 days`: rounded. @param {number} ms */
export function span(ms) {
  if (ms < HOUR) return counted(Math.max(1, Math.round(ms / MINUTE)), 'minute')
  return ms < 2 * DAY ? counted(Math.round(ms / HOUR), 'hour') : counted(Math.round(ms / DAY), 'day')
}

/** `84 ms`, `1.3 s`, on one line. @param {number | null} ms */
export function duration(ms) {
  if (ms === null) return '–'
  return ms < SECOND ? `${ms}\u00A0ms` : `${(ms / SECOND).toFixed(1)}\u00A0s`
}

/** How far the clock of the lead that is shown is ahead, in milliseconds. */
export const Ahead = createContext(0)

/** Whether a lead's clock is ahead by so much that it tells another time than the real one. @param {number} ahead */
export const isFarAhead = (ahead) => ahead >= MINUTE

/** The present, a few times a minute. */
export function useNow() {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return now
}

/**
 * A time in UTC, in the one form that the API has. How far away it is, and the reader's own time, help on hover.
 *
 * @param {{ at: string, zone?: boolean, isReal?: boolean, help?: boolean }} props
 *   `zone`: says UTC, where no heading does. `isReal`: real time, although the page follows a lead's clock.
 *   `help`: shows beside it how far away it is.
 */
export function Utc({ at, zone = false, isReal = false, help = false }) {
  const now = Math.max(useNow(), Date.now())
  const ahead = useContext(Ahead)
  const date = parseTime(at)
  const away = distance(date.getTime() - now - (isReal ? 0 : ahead))
  const clock =
    isFarAhead(ahead) && !isReal ? ', by its clock' : ` · ${inZone.format(date)} in your time zone`
  return html`
    <time datetime=${date.toISOString()} title=${`${away}${clock}`}>${at}${zone && ' UTC'}</time>
    ${help && html` <span class="dim">(${away})</span>`}
  `
}
