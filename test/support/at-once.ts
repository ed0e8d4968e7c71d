/**
 * For tests that mostly wait, each for itself: `begin`, in a `beforeAll`, begins all that were given to `begun`, and each
 * test then tells what came of it. Jest's own `it.concurrent` does not wait for a `beforeAll`.
 */
export function atOnce() {
  const all: (() => void)[] = []
  const begun = (act: () => Promise<void>) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    // its test tells of it
    promise.catch(() => {})
    all.push(() => resolve(act()))
    return async () => promise
  }
  const begin = () => all.forEach((start) => start())
  return { begun, begin }
}
