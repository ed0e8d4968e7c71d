import { withJitter } from '../decisions/retry-schedule.ts'
import { isLockTimeout } from '../../database/database-away.ts'
import { createLine, createTurns, type Line } from '../../database/locks/turns.ts'
import type { Begun } from './begin-attempt.ts'

/** How long a recording waits for others of its partner, which hold the lock on its endpoint, in milliseconds. */
const TURN_MS = 250
/** Connections, of the twenty of a pool, that one partner's attempts use at a time. */
const CONNECTIONS = 4
/** How long an attempt waits for one of them, in milliseconds. */
const WAIT_MS = 1000
/** Rejected attempts retry at about fifty a second, after eight seconds at most. */
const PACE_MS = 20
const LONGEST_MS = 8000

/** What a partner's attempts have of the pool. */
interface Lane {
  /** Transactions under way. */
  inside: number
  isStuck: boolean
  turnedAway: number
  finishing: Line
  beginning: Line
}

export type DeliveryGate = ReturnType<typeof createDeliveryGate>

/**
 * Keeps one partner's attempts from using up the pool, and all of them from using up the worker. An attempt locks its
 * partner's endpoint to begin, and to finish with a failure; while another session holds that lock, it waits with a
 * connection. One gate for the whole process.
 *
 * | Entry          | Lets in                                | At a time                        | Waits for that      | Or else      |
 * | -------------- | -------------------------------------- | -------------------------------- | ------------------- | ------------ |
 * | `firstAttempt` | an activity that makes a first attempt | `places`, of all partners        | not at all          | makes none   |
 * | `record`       | a recording that may open an attempt   | one of a partner                 | 250 ms              | only records |
 * | `begin`        | a transaction that begins an attempt   | four of a partner, with `finish` | 1 s                 | comes back   |
 * | `finish`       | a transaction that finishes one        | the same four, before `begin`    | as long as it takes |              |
 *
 * A recording is none of the four: it never waits for the endpoint's lock.
 *
 * | A partner is | Until                                             | Lets `begin` and `finish` in                        |
 * | ------------ | ------------------------------------------------- | --------------------------------------------------- |
 * | free         | one has waited too long, for that or for the lock | as above                                            |
 * | stuck        | one ends well                                     | one at a time; what cannot begin at once comes back |
 *
 * @param places how many activities may wait for endpoints at a time.
 */
export function createDeliveryGate({ places }: { places: number }) {
  const inTurn = createTurns(TURN_MS)
  const lanes = new Map<number, Lane>()
  let taken = 0

  function laneOf(partnerId: number): Lane {
    const known = lanes.get(partnerId)
    if (known !== undefined) return known
    const lines = { finishing: createLine(), beginning: createLine() }
    const lane: Lane = { inside: 0, isStuck: false, turnedAway: 0, ...lines }
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
    /** Does `work` in one of the process's places, and `otherwise` when there is none. */
    async firstAttempt<Result>(
      work: () => Promise<Result>,
      otherwise: () => Promise<Result>,
    ): Promise<Result> {
      if (taken >= places) return otherwise()
      taken += 1
      try {
        return await work()
      } finally {
        taken -= 1
      }
    },

    /** Records with `open` in a turn of the partner's recordings, and with `only` without one. */
    record: inTurn,

    /** Begins an attempt, or says when to come back: if it is turned away, or if `work` does not get the lock. */
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

    /** Finishes an attempt. */
    async finish<Result>(partnerId: number, work: () => Promise<Result>): Promise<Result> {
      const lane = laneOf(partnerId)
      const finishing = lane.finishing.wait()
      admit(lane)
      await finishing
      return inside(partnerId, lane, work)
    },
  }
}

const hasRoom = ({ inside, isStuck }: Lane) => inside < (isStuck ? 1 : CONNECTIONS)

async function mayBegin(lane: Lane): Promise<boolean> {
  if (lane.isStuck && !hasRoom(lane)) return false
  const beginning = lane.beginning.wait(WAIT_MS)
  admit(lane)
  const isIn = await beginning
  if (!isIn) lane.isStuck = true
  return isIn
}

function admit(lane: Lane): void {
  while (hasRoom(lane) && (lane.finishing.next() || lane.beginning.next())) lane.inside += 1
}

function comeBack(lane: Lane): Begun {
  lane.turnedAway += 1
  const afterMs = Math.min(Math.max(lane.turnedAway * PACE_MS, WAIT_MS), LONGEST_MS)
  return { kind: 'wait', why: 'locked', forMs: withJitter(afterMs, Math.random) }
}
