import { useEffect, useState } from './preact.js'
import { ApiFailure, call } from './api.js'

/** @import { FeedEvent } from './types.js' */

const WAIT_S = 25
const MOST_KEPT = 200
const POLL_MS = 3000
/** Between two pages of events, so that views can load during a burst. */
const BREATH_MS = 500
const LONGEST_PAUSE_MS = 3000
/** When to load again after an action: its attempts come later, and are no events. */
const AFTER_ACTION_MS = [500, 2000, 5000]

/** What arrived since the page was opened. */
const feed = {
  /** @type {'connecting' | 'live' | 'resting' | 'retrying'} */ state: 'connecting',
  /** Newest first. @type {FeedEvent[]} */ events: [],
  /** Includes events that are not kept. */
  arrived: 0,
  /** Rises whenever views have to load again. */
  version: 0,
}
/** @type {Set<() => void>} */
const watchers = new Set()
/** @type {AbortController | undefined} */
let running
/** Ends the request that waits for events. @type {AbortController | undefined} */
let waiting

const tell = () => watchers.forEach((watcher) => watcher())

document.addEventListener('visibilitychange', () => {
  if (document.hidden) waiting?.abort()
  tell()
})

/** Tells every view to load again. */
function touch() {
  feed.version += 1
  tell()
}

/** Tells every view to load again after an action, and soon after. */
export function touchSoon() {
  touch()
  for (const ms of AFTER_ACTION_MS) setTimeout(touch, ms)
}

/** Listens to the partner's feed by long polls of list-events until `stopLive`. It rests while the tab is hidden. */
export function startLive() {
  stopLive()
  running = new AbortController()
  void follow(running.signal)
}

export function stopLive() {
  running?.abort()
  Object.assign(feed, { state: 'connecting', events: [], arrived: 0 })
}

/** @param {AbortSignal} signal */
async function follow(signal) {
  let after = 'now'
  let failures = 0
  // no wait for what is already there; and none while other tabs have taken all the waits of the key
  let wait = 0
  while (!signal.aborted) {
    if (document.hidden) {
      wait = 0
      become('resting')
      await rest(signal, 0)
    }
    waiting = new AbortController()
    const asking = AbortSignal.any([signal, waiting.signal])
    try {
      const { data, next } = await call('/list-events', { after, wait, limit: 100 }, { signal: asking })
      const isPolling = wait === 0 && feed.state === 'live'
      after = next
      failures = 0
      wait = isPolling ? 0 : WAIT_S
      become('live')
      if (data.length > 0) arrive(data)
      if (isPolling || data.length > 0) await rest(signal, isPolling ? POLL_MS : BREATH_MS)
    } catch (error) {
      if (asking.aborted) continue
      const { next = after, retryMs, status } = /** @type {ApiFailure} */ (error)
      // the cursor is from before a restore or a fresh start
      if (next !== after) {
        after = next
        touch()
        continue
      }
      failures += 1
      if (status !== 429 || wait === 0) become('retrying')
      // the first answer says that the service is back
      wait = 0
      await rest(signal, Math.max(retryMs, Math.min(LONGEST_PAUSE_MS, 500 * 2 ** failures)))
    }
  }
}

/** @param {typeof feed.state} state */
function become(state) {
  if (feed.state === state) return
  feed.state = state
  // views may show old data
  if (state === 'live') touch()
  else tell()
}

/** @param {FeedEvent[]} events */
function arrive(events) {
  feed.events = [...events.toReversed(), ...feed.events].slice(0, MOST_KEPT)
  feed.arrived += events.length
  touch()
}

/**
 * Waits for a time, or until views have to load again, and then until the tab is shown.
 *
 * @param {AbortSignal} signal ends it early
 * @param {number | undefined} ms
 * @param {number} [version] what the view has loaded; without it, only the time counts
 */
function rest(signal, ms, version = Infinity) {
  return new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
    let isOver = false
    const look = () => {
      if (!signal.aborted && (document.hidden || !(isOver || feed.version > version))) return
      clearTimeout(timer)
      watchers.delete(look)
      signal.removeEventListener('abort', look)
      resolve()
    }
    const end = () => {
      isOver = true
      look()
    }
    const timer = ms === undefined ? undefined : setTimeout(end, ms)
    watchers.add(look)
    signal.addEventListener('abort', look)
    look()
  })
}

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

/**
 * Loads what a view shows, and again whenever something happens. What was loaded last stays while it loads.
 *
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {unknown[]} inputs loads anew when one of them changes
 * @param {(data: T) => number | undefined} [again] in how many milliseconds to look again by itself
 * @returns {{ data: T | undefined, error: Error | undefined, reload: () => void }}
 */
export function useLoad(load, inputs, again = () => undefined) {
  const [turn, setTurn] = useState(0)
  const [result, setResult] = useState(/** @type {{ data?: T, error?: Error }} */ ({}))
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const keepLoading = async () => {
      while (!signal.aborted) {
        const { version } = feed
        /** @type {number | undefined} */
        let ms
        try {
          const data = await load(signal)
          ms = again(data)
          if (!signal.aborted) setResult({ data })
        } catch (error) {
          if (signal.aborted) return
          // the request that waits for events may have died silently, too
          if (error instanceof ApiFailure && error.status === 0) waiting?.abort()
          ms = retryIn(error)
          setResult(({ data }) => ({ data, error: /** @type {Error} */ (error) }))
        }
        await rest(signal, ms, version)
      }
    }
    void keepLoading()
    return () => controller.abort()
  }, [JSON.stringify(inputs), turn])
  return { data: result.data, error: result.error, reload: () => setTurn(turn + 1) }
}

/** Never, if the request is wrong or its object is missing: it would be refused again. @param {unknown} error */
const retryIn = (error) =>
  error instanceof ApiFailure && [400, 404].includes(error.status)
    ? undefined
    : Math.max(LONGEST_PAUSE_MS, error instanceof ApiFailure ? error.retryMs : 0)
