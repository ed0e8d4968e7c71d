import { counted } from './words.js'

/** The API's times are `YYYY-MM-DD HH:MM:SS`, UTC. @param {string} text */
export const parseTime = (text) => new Date(`${text.replace(' ', 'T')}Z`)

/** As the API writes it: `YYYY-MM-DD HH:MM:SS`, UTC. @param {Date} date */
export const inUtc = (date) => date.toISOString().slice(0, 19).replace('T', ' ')

/** Whether a time of the API is still to come. @param {string | null} text */
export const isAhead = (text) => text !== null && parseTime(text).getTime() > Date.now()

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const inFull = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })

/** In the reader's zone. @param {Date} date */
export const inZone = (date) => inFull.format(date)

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How far away: `now`, `3 minutes ago`, `in 2 hours`, `in 45 days`. @param {Date} date @param {number} now */
export function distance(date, now) {
  const ms = date.getTime() - now
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
  return ms < 1000 ? `${ms}\u00A0ms` : `${(ms / 1000).toFixed(1)}\u00A0s`
}

/** Whether a lead's clock is ahead by so much that it tells another time than the real one. @param {number} ahead */
export const isFarAhead = (ahead) => ahead >= MINUTE
