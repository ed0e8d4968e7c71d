import { setTimeout as delay } from 'node:timers/promises'

/** What a process does again and again. */
interface Loop {
  everyMs: number
  turn: () => Promise<unknown>
  /** Is told of the first of several failures in a row. */
  onFailure: (error: unknown) => void
}

/** Takes turns until `signal` aborts, the first one at once. */
export async function keepTurning(
  { everyMs, turn, onFailure }: Loop,
  { signal }: { signal: AbortSignal },
): Promise<void> {
  let isFailing = false
  while (!signal.aborted) {
    try {
      await turn()
      isFailing = false
    } catch (error) {
      if (!isFailing) onFailure(error)
      isFailing = true
    }
    await delay(everyMs, undefined, { signal }).catch(() => undefined)
  }
}
