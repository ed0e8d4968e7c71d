/**
 * For tests that mostly wait, each for itself: `begin`, in a `beforeAll`, begins all that were given to `begun`, and each
 * test then tells what came of it. Jest's own `it.concurrent` does not wait for a `beforeAll`.
 */
export function atOnce() {
  const all: (() => void)[] = []
  const begun = (act: () => Promise<void>) => {
    const { promise, resolve } = Promise.withResolvers<Promise<void>>()
    all.push(() => {
      const acting = act()
      // its test tells of it
      acting.catch(() => {})
      resolve(acting)
    })
    return async () => promise
  }
  const begin = () => all.forEach((start) => start())
  return { begun, begin }
}
