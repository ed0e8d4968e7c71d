/** Something cannot be done; the message is one line that says what to do instead. */
export class Refusal extends Error {}

/** Ends the process with one readable line. */
export function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

/** `read`, with a refusal as one line. */
export function orFail<Value>(read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    return failIfRefused(error)
  }
}

/** Ends the process where the error itself says what to do. */
export function failIfRefused(error: unknown): never {
  if (error instanceof Refusal) fail(error.message)
  throw error
}

/** Why something failed, in one line; a gRPC error has it without the status code in `details`, some with a full stop. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'details' in error && typeof error.details === 'string'
    ? error.details.replace(/\.$/, '')
    : error.message
}
