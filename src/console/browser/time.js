import { counted } from './words.js'

/** The API's times are `YYYY-MM-DD HH:MM:SS`, UTC. @param {string} text */
export const parseTime = (text) => new Date(`${text.replace(' ', 'T')}Z`)

/** Whether a time of the API is still to come. @param {string | null} text */
export const isAhead = (text) => text !== null && parseTime(text).getTime() > Date.now()

/** @param {unknown} value */
export const isTime = (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value)

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const clock = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' })
const minute = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

/** In the reader's zone. @param {Date} date */
export const inZone = (date) => minute.format(date)
/** @param {Date} date */
export const dayInZone = (date) => day.format(date)
/** @param {Date} date */
export const clockInZone = (date) => clock.format(date)

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/**
 * How far away a time is: `now`, `3 minutes ago`, `in 2 hours`, `in 45 days`.
 *
 * @param {Date} date
 * @param {number} now
 */
export function distance(date, now) {
  const ms = date.getTime() - now
  const size = Math.abs(ms)
  if (size < 5 * SECOND) return 'now'
  if (size < MINUTE) return relative.format(Math.trunc(ms / SECOND), 'second')
  if (size < HOUR) return relative.format(Math.trunc(ms / MINUTE), 'minute')
  if (size < DAY) return relative.format(Math.trunc(ms / HOUR), 'hour')
  if (size < 60 * DAY) return relative.format(Math.round(ms / DAY), 'day')
  return dayInZone(date)
}

/** `35 minutes`, `2 hours`, `45 days`: rounded. @param {number} ms */
export function span(ms) {
  if (ms < HOUR) return counted(Math.max(1, Math.round(ms / MINUTE)), 'minute')
  return ms < 2 * DAY ? counted(Math.round(ms / HOUR), 'hour') : counted(Math.round(ms / DAY), 'day')
}

/** `84 ms`, `1.3 s`. @param {number | null} ms */
export function duration(ms) {
  if (ms === null) return '–'
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`
}
