import { v7 } from 'uuid'

const STEP_MS = 1000

/** @returns the milliseconds since 1970 at the beginning of a UUID of version 7. */
export const epochMsOf = (uuid: string): number => Number.parseInt(uuid.slice(0, 13).replace('-', ''), 16)

/**
 * Makes a UUID of version 7 (RFC 9562), greater than those this process has made before.
 *
 * The library never goes back: once the host's clock has been ahead, its ids stay there until that time has come, and so
 * do the times that are read from them. A clock that is set back by more than a second is followed here; until the
 * library has caught up, ids of one millisecond are in no order.
 */
export function newUuid(): string {
  const [now, uuid] = [Date.now(), v7()]
  return epochMsOf(uuid) - now > STEP_MS ? v7({ msecs: now }) : uuid
}
