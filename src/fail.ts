/** Something cannot be done; the message is one line that says what to do instead. */
export class Refusal extends Error {}

/** Ends the process with one readable line. */
export function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

/** Returns the result of `read`. If `read` refuses, ends the process with one line. */
export function orFail<Value>(read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    return failIfRefused(error)
  }
}

/** Ends the process with a refusal's line; throws any other error again. */
export function failIfRefused(error: unknown): never {
  if (error instanceof Refusal) fail(error.message)
  throw error
}

/** Why something failed, in one line. A gRPC error has it in `details`, without the status code, some with a full stop. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'details' in error && typeof error.details === 'string'
    ? error.details.replace(/\.$/, '')
    : error.message
}
