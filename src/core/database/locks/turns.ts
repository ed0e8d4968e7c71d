export type Line = ReturnType<typeof createLine>

/** Those who wait for something, in the order in which they came. */
export function createLine() {
  const waiting = new Set<() => void>()
  return {
    /** Resolves to whether one was let in: after `forMs` milliseconds one goes away. */
    wait(forMs?: number): Promise<boolean> {
      return new Promise((resolve) => {
        const timer = forMs === undefined ? undefined : setTimeout(goAway, forMs)
        function goOn(): void {
          clearTimeout(timer)
          resolve(true)
        }
        function goAway(): void {
          waiting.delete(goOn)
          resolve(false)
        }
        waiting.add(goOn)
      })
    },

    /** Lets the first one in. Returns whether one waited. */
    next(): boolean {
      const [first] = waiting
      if (first === undefined) return false
      waiting.delete(first)
      first()
      return true
    },
  }
}

/**
 * Lets callers with the same key run one at a time, in the order in which they came. A caller that has waited for `waitMs`
 * milliseconds runs without a turn.
 */
export function createTurns(waitMs: number) {
  /** Those who wait, by key; a key is there while one of them has its turn. */
  const lines = new Map<number, Line>()

  function take(key: number): Promise<boolean> {
    const line = lines.get(key)
    if (line !== undefined) return line.wait(waitMs)
    lines.set(key, createLine())
    return Promise.resolve(true)
  }

  /** Does `work` in a turn, and `otherwise` without one. */
  return async <Result>(
    key: number,
    work: () => Promise<Result>,
    otherwise: () => Promise<Result>,
  ): Promise<Result> => {
    if (!(await take(key))) return otherwise()
    try {
      return await work()
    } finally {
      if (!lines.get(key)?.next()) lines.delete(key)
    }
  }
}
