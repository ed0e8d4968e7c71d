import { v7 } from 'uuid'

const STEP_MS = 1000

/** @returns the milliseconds since 1970 at the beginning of a UUID of version 7. */
export const epochMsOf = (uuid: string): number => Number.parseInt(uuid.slice(0, 13).replace('-', ''), 16)

/** Of the last one: its time, and its place among those of the same time. */
let [msecs, seq] = [0, 0]

/**
 * Makes a UUID of version 7 (RFC 9562), greater than those this process has made before.
 *
 * The library's own state never goes back: once the host's clock has been ahead, its ids stay there until that time has
 * come, and so do the times that are read from them. A clock that is set back by more than a second is followed here.
 */
export function newUuid(): string {
  const now = Date.now()
  if (now <= msecs && msecs - now <= STEP_MS) seq += 1
  else {
    msecs = now
    // below the largest by more than anyone can use up before the clock moves on
    seq = Math.floor(Math.random() * 2 ** 30)
  }
  return v7({ msecs, seq })
}
