const ends: (() => Promise<unknown>)[] = []

/**
 * Runs `end` after the last test of the file, the latest first: nothing that a file started outlives it.
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

/** Runs a program that is no test: what it began ends with it, also after Ctrl-C. */
export async function asProgram(run: () => Promise<void>): Promise<void> {
  for (const end of ['SIGINT', 'SIGTERM', 'uncaughtException'] as const)
    process.once(end, (cause: unknown) => {
      process.stderr.write(`${cause instanceof Error ? cause.stack : String(cause)}\n`)
      void endAll().finally(() => process.exit(1))
    })
  try {
    await run()
  } finally {
    await endAll()
  }
}
