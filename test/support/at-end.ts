const ends: (() => Promise<unknown>)[] = []

/**
 * Runs `end` after the last test of the file, the latest first: nothing that a file started outlives it. A program that
 * is no test calls `endAll` itself.
 */
export function atEnd(end: () => Promise<unknown>): void {
  ends.push(end)
}

/** Runs them all, also after one that fails. */
export async function endAll(): Promise<void> {
  const failures: unknown[] = []
  for (const end of ends.splice(0).toReversed()) await end().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}
