import { setTimeout as delay } from 'node:timers/promises'
import type { WatchLoop } from '../../metrics/loops.ts'

/** What a worker does again and again. */
interface Loop {
  /** As metrics name it. */
  name: string
  everyMs: number
  /** After a turn that failed. By default it is as long as after any other. */
  againMs?: number
  /** @param goesOn is to be called in the middle of one that takes longer than others. */
  turn: (goesOn: () => void) => Promise<unknown>
  /** Is told of the first of several failures in a row. */
  onFailure: (error: unknown) => void
}

export interface LoopOptions {
  signal: AbortSignal
  watchLoop?: WatchLoop
}

/** Takes turns until `signal` aborts, the first one at once. */
export async function keepTurning(
  { name, everyMs, againMs = everyMs, turn, onFailure }: Loop,
  { signal, watchLoop }: LoopOptions,
): Promise<void> {
  const turned = watchLoop?.(name)
  let isFailing = false
  while (!signal.aborted) {
    try {
      await turn(() => turned?.(everyMs))
      isFailing = false
      turned?.(everyMs)
    } catch (error) {
      if (!isFailing) onFailure(error)
      isFailing = true
    }
    await delay(isFailing ? againMs : everyMs, undefined, { signal }).catch(() => undefined)
  }
}
