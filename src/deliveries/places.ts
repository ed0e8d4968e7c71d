import type { AttemptOutcome } from '../webhooks/send.ts'
import { ENDPOINT_CAP } from './delivery-states.ts'

const SHORTEST_MS = 1000
const LONGEST_MS = 5 * 60_000

interface Lane {
  taken: number
  /** Requests that found no place, minus one for each answer since. */
  turnedAway: number
  /** How long the latest request took. */
  latestMs: number
  /** When the latest answer came, or when the first request after none in flight began, on the monotonic clock. */
  answeredMs: number
  /** The endpoint let a request time out, and has accepted nothing since: it gets one at a time. */
  hangs: boolean
}

export type Places = ReturnType<typeof createPlaces>

/**
 * Limits the requests in flight to each partner, in memory, so that an endpoint that hangs holds up no other. A process makes
 * this once. A place is taken before the lease of a delivery, and given back once the outcome is written.
 */
export function createPlaces(random = Math.random, nowMs = () => performance.now()) {
  const lanes = new Map<number, Lane>()
  const laneOf = (partnerId: number): Lane => {
    const known = lanes.get(partnerId)
    // after an idle time, earlier measurements do not count
    if (known && (known.taken > 0 || nowMs() - known.answeredMs < LONGEST_MS)) return known
    const lane = { taken: 0, turnedAway: 0, latestMs: 0, answeredMs: nowMs(), hangs: false }
    lanes.set(partnerId, lane)
    return lane
  }
  return {
    /** Returns whether there was a place. */
    take(partnerId: number): boolean {
      const lane = laneOf(partnerId)
      if (lane.taken >= (lane.hangs ? 1 : ENDPOINT_CAP)) return false
      if (lane.taken === 0) lane.answeredMs = nowMs()
      lane.taken += 1
      return true
    },

    giveBack(partnerId: number): void {
      laneOf(partnerId).taken -= 1
    },

    answered(partnerId: number, { ok, errorCode, durationMs }: AttemptOutcome): void {
      const lane = laneOf(partnerId)
      lane.turnedAway = lane.hangs && ok ? 0 : Math.max(0, lane.turnedAway - 1)
      lane.latestMs = durationMs
      lane.answeredMs = nowMs()
      lane.hangs = errorCode === 'timeout' || (lane.hangs && !ok)
    },

    /**
     * After how many milliseconds a request that found no place should come back: about when its turn comes. A thousand
     * that came back each second would cost more than their requests.
     */
    turnAwayMs(partnerId: number): number {
      const lane = laneOf(partnerId)
      lane.turnedAway += 1
      // an endpoint that begins to hang shows it before the first timeout
      const tookMs = Math.max(lane.latestMs, nowMs() - lane.answeredMs)
      const turnMs = (lane.turnedAway / ENDPOINT_CAP) * tookMs
      const jitter = 0.8 + 0.4 * random()
      return Math.round(Math.min(Math.max(turnMs, SHORTEST_MS), LONGEST_MS) * jitter)
    },
  }
}
