/**
 * Lets those of one key go one at a time, in the order in which they came. Whoever has waited for `waitMs` milliseconds
 * goes without a turn.
 */
export function createTurns(waitMs: number) {
  /** Those who wait, by key; a key is there while somebody has its turn. */
  const lines = new Map<number, (() => void)[]>()

  function take(key: number): Promise<boolean> {
    const line = lines.get(key)
    if (line === undefined) {
      lines.set(key, [])
      return Promise.resolve(true)
    }
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        line.splice(line.indexOf(proceed), 1)
        resolve(false)
      }, waitMs)
      const proceed = () => {
        clearTimeout(timer)
        resolve(true)
      }
      line.push(proceed)
    })
  }

  function pass(key: number): void {
    const next = lines.get(key)?.shift()
    if (next === undefined) lines.delete(key)
    else next()
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
      pass(key)
    }
  }
}
