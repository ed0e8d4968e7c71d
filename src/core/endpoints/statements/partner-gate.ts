import { withJitter } from '../../deliveries/decisions/retry-schedule.ts'
import type { Begun } from '../../deliveries/statements/begin-attempt.ts'
import { isLockTimeout } from '../../database/database-away.ts'

/** Connections, of the twenty of a pool, that one partner's attempts use at a time. */
const PLACES = 4
/** How long an attempt waits for a place, in milliseconds. */
const WAIT_MS = 1000
/** Rejected attempts retry at about fifty a second, after eight seconds at most. */
const PACE_MS = 20
const LONGEST_MS = 8000

interface Lane {
  /** Transactions under way. */
  inside: number
  /** An attempt timed out waiting, and none has succeeded since. Until one does, one at a time may try. */
  isStuck: boolean
  turnedAway: number
  /** Attempts waiting to finish, and attempts waiting to begin. */
  finishing: (() => void)[]
  beginning: (() => void)[]
}

export type PartnerGate = ReturnType<typeof createPartnerGate>

/**
 * Limits how many connections of the pool one partner's attempts use. An attempt locks its partner's endpoint to begin,
 * and to finish with a failure; while somebody else holds that lock, it waits with a connection. Per process.
 */
export function createPartnerGate() {
  const lanes = new Map<number, Lane>()

  function laneOf(partnerId: number): Lane {
    const known = lanes.get(partnerId)
    if (known !== undefined) return known
    const lane: Lane = { inside: 0, isStuck: false, turnedAway: 0, finishing: [], beginning: [] }
    lanes.set(partnerId, lane)
    return lane
  }

  async function inside<Result>(partnerId: number, lane: Lane, work: () => Promise<Result>): Promise<Result> {
    try {
      const result = await work()
      lane.isStuck = false
      lane.turnedAway = 0
      return result
    } catch (error) {
      if (isLockTimeout(error)) lane.isStuck = true
      throw error
    } finally {
      lane.inside -= 1
      admit(lane)
      if (lane.inside === 0 && !lane.isStuck) lanes.delete(partnerId)
    }
  }

  return {
    /** Begins an attempt, or makes it wait if none of its partner's attempts gets the lock. */
    async begin(partnerId: number, work: () => Promise<Begun>): Promise<Begun> {
      const lane = laneOf(partnerId)
      if (!(await mayBegin(lane))) return comeBack(lane)
      try {
        return await inside(partnerId, lane, work)
      } catch (error) {
        if (!isLockTimeout(error)) throw error
        return comeBack(lane)
      }
    },
    /** Finishes an attempt, before others of its partner are begun. */
    async finish<Result>(partnerId: number, work: () => Promise<Result>): Promise<Result> {
      const lane = laneOf(partnerId)
      await mayFinish(lane)
      return inside(partnerId, lane, work)
    },
  }
}

const hasPlace = ({ inside, isStuck }: Lane) => inside < (isStuck ? 1 : PLACES)

/** Resolves once the attempt has a place. */
function mayFinish(lane: Lane): Promise<void> {
  return new Promise((resolve) => {
    lane.finishing.push(resolve)
    admit(lane)
  })
}

/** Resolves to whether the attempt has a place, after a second at most. */
async function mayBegin(lane: Lane): Promise<boolean> {
  if (lane.isStuck && !hasPlace(lane)) return false
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => {
    lane.isStuck = true
    lane.beginning.splice(lane.beginning.indexOf(enter), 1)
    resolve(false)
  }, WAIT_MS)
  const enter = () => {
    clearTimeout(timer)
    resolve(true)
  }
  lane.beginning.push(enter)
  admit(lane)
  return promise
}

function admit(lane: Lane): void {
  while (hasPlace(lane) && lane.finishing.length > 0) {
    lane.inside += 1
    lane.finishing.shift()?.()
  }
  while (hasPlace(lane) && lane.beginning.length > 0) {
    lane.inside += 1
    lane.beginning.shift()?.()
  }
}

function comeBack(lane: Lane): Begun {
  lane.turnedAway += 1
  const afterMs = Math.min(Math.max(lane.turnedAway * PACE_MS, WAIT_MS), LONGEST_MS)
  return { kind: 'wait', why: 'locked', forMs: withJitter(afterMs, Math.random) }
}
