import { useEffect, useRef, useState } from './preact.js'
import { ApiFailure, call, isAway, onUnreachable } from './api.js'

/** @import { FeedEvent } from './types.js' */
/** @typedef {'connecting' | 'live' | 'resting' | 'retrying'} LiveState */

const WAIT_S = 25
const MOST_KEPT = 200
const POLL_MS = 3000
/** Between two pages with events: in a storm, views have to load what they show, too. */
const BREATH_MS = 500
const LONGEST_PAUSE_MS = 3000

/** What arrived since the page was opened, newest first. */
const feed = {
  /** @type {LiveState} */ state: 'connecting',
  /** @type {FeedEvent[]} */ events: [],
  /** Also those that are not kept. */
  arrived: 0,
  /** Counts arrivals and actions, so that views know when to look again. */
  version: 0,
  /** How much of the page the service does not answer: the mark then agrees with what the page says. */
  unanswered: 0,
}
/** @type {Set<() => void>} */
const watchers = new Set()
/** @type {AbortController | undefined} */
let running
/** @type {AbortController | undefined} of the request that waits for news */
let waiting
/** Why that request ends early. */
const HIDDEN = 'the tab is hidden'
const DOUBTED = 'it may wait for nothing'

const tell = () => watchers.forEach((watcher) => watcher())

/** @param {LiveState} state */
function become(state) {
  if (feed.state === state) return
  feed.state = state
  tell()
}

/** Tells every view to look again after an action. */
export function touch() {
  feed.version += 1
  tell()
}

/** Listens to the partner's feed by long polls of list-events until `stopLive`. It rests while the tab is hidden. */
export function startLive() {
  stopLive()
  const controller = new AbortController()
  running = controller
  void follow(controller.signal)
}

/** Something was not answered: the request that waits may wait for nothing, so it is sent again. */
export const doubt = () => waiting?.abort(DOUBTED)
onUnreachable(doubt)
document.addEventListener('visibilitychange', () => document.hidden && waiting?.abort(HIDDEN))

export function stopLive() {
  running?.abort()
  running = undefined
  Object.assign(feed, { state: 'connecting', events: [], arrived: 0 })
}

/** @param {AbortSignal} signal */
async function follow(signal) {
  let after = 'now'
  let failures = 0
  // no wait for what is already there; and none while other tabs have taken all the waits of the key
  let wait = 0
  /** Whether views may show what was before the feed began. */
  let isBlind = false
  while (!signal.aborted) {
    if (await rested(signal)) {
      wait = 0
      isBlind ||= after === 'now'
    }
    const asking = new AbortController()
    waiting = asking
    try {
      const body = { after, wait, limit: 100 }
      const { data, next } = await call('/list-events', body, {
        signal: AbortSignal.any([signal, asking.signal]),
      })
      after = next
      failures = 0
      wait = wait === 0 && feed.state === 'live' ? 0 : WAIT_S
      become('live')
      if (data.length > 0) arrive(data)
      else if (isBlind) touch()
      isBlind = false
      if (wait === 0 || data.length > 0) await pause(wait === 0 ? POLL_MS : BREATH_MS)
    } catch (error) {
      if (signal.aborted || asking.signal.reason === HIDDEN) continue
      // the record was restored, or begun anew
      const next = error instanceof ApiFailure ? error.next : undefined
      if (next !== undefined && next !== after) {
        after = next
        isBlind = true
        continue
      }
      failures += 1
      isBlind ||= after === 'now'
      if (!isWaitRefused(error, wait)) become('retrying')
      // the first answer says that the service is back
      wait = 0
      await pause(Math.max(retryMsOf(error), Math.min(LONGEST_PAUSE_MS, 500 * 2 ** failures)))
    }
  }
}

/** @param {unknown} error */
const retryMsOf = (error) => (error instanceof ApiFailure ? error.retryMs : 0)

/** @param {unknown} error @param {number} wait */
const isWaitRefused = (error, wait) =>
  error instanceof ApiFailure && error.status === 429 && wait > 0 && feed.state === 'live'

/** @param {FeedEvent[]} events */
function arrive(events) {
  const known = new Set(feed.events.map(({ event_id }) => event_id))
  const news = events.filter(({ event_id }) => !known.has(event_id))
  feed.events = [...news.toReversed(), ...feed.events].slice(0, MOST_KEPT)
  feed.arrived += news.length
  touch()
}

/** @param {AbortSignal} signal @returns whether the tab was hidden */
async function rested(signal) {
  if (!document.hidden) return false
  become('resting')
  await new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
    const done = () => {
      if (document.hidden && !signal.aborted) return
      document.removeEventListener('visibilitychange', done)
      resolve()
    }
    document.addEventListener('visibilitychange', done)
    signal.addEventListener('abort', done, { once: true })
  })
  return true
}

/** @param {number} ms */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** The feed; the component renders again when it changes. */
export function useLive() {
  const [, render] = useState(0)
  useEffect(() => {
    const watcher = () => render((/** @type {number} */ count) => count + 1)
    watchers.add(watcher)
    return () => void watchers.delete(watcher)
  }, [])
  return feed
}

/** Says that a part of the page is not answered, until the function that it returns is called. */
function unanswered() {
  const count = (/** @type {1 | -1} */ by) => {
    feed.unanswered += by
    tell()
  }
  count(1)
  return () => count(-1)
}

/** Never, if it would be refused again: what it asks for is wrong, or not there. @param {Error} error */
const retryIn = (error) =>
  error instanceof ApiFailure && [400, 404].includes(error.status)
    ? undefined
    : Math.max(LONGEST_PAUSE_MS, retryMsOf(error))

/**
 * Does one work at a time, and one more for all calls meanwhile: events may come faster than a view loads.
 *
 * @param {AbortSignal} signal
 * @param {() => Promise<unknown>} work
 */
function oneAtATime(signal, work) {
  let isWorking = false
  let isDue = false
  return async () => {
    isDue = true
    if (isWorking) return
    isWorking = true
    while (isDue && !signal.aborted) {
      isDue = false
      await work()
    }
    isWorking = false
  }
}

/**
 * Loads what a view shows, and again whenever something happens. What was loaded last stays while it loads.
 *
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {unknown[]} inputs loads anew, from nothing, when one of them changes
 * @param {(data: T) => number | undefined} [again] in how many milliseconds to look again by itself
 * @returns {{ data: T | undefined, error: Error | undefined, reload: () => void }}
 */
export function useLoad(load, inputs, again = () => undefined) {
  const key = JSON.stringify(inputs)
  const { version } = useLive()
  const [turn, setTurn] = useState(0)
  const [result, setResult] = useState(/** @type {{ key: string, data?: T, error?: Error }} */ ({ key }))
  const latest = useRef(load)
  latest.current = load
  const look = useRef(async () => {})
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    look.current = oneAtATime(signal, () =>
      latest.current(signal).then(
        (data) => signal.aborted || setResult({ key, data }),
        (/** @type {unknown} */ error) =>
          signal.aborted ||
          setResult((/** @type {any} */ previous) => ({
            ...(previous.key === key ? previous : { key }),
            error,
          })),
      ),
    )
    return () => controller.abort()
  }, [key, turn])
  useEffect(() => void look.current(), [key, version, turn])
  const away = isAway(result.error)
  useEffect(() => (away ? unanswered() : undefined), [away])
  const reload = () => setTurn((/** @type {number} */ count) => count + 1)
  useEffect(() => {
    const wait = result.data === undefined ? undefined : again(result.data)
    const ms = result.error === undefined ? wait : retryIn(result.error)
    if (ms === undefined) return undefined
    const timer = setTimeout(() => {
      if (!document.hidden) return reload()
      document.addEventListener('visibilitychange', reload, { once: true })
    }, ms)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', reload)
    }
  }, [result])
  const isCurrent = result.key === key
  return { data: isCurrent ? result.data : undefined, error: isCurrent ? result.error : undefined, reload }
}
