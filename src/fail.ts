import { ConfigError } from './config.ts'
import { OtherEnvironment } from './database/deployment.ts'

/** Ends the process with one readable line. */
export function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

/** `read`, with a configuration error as one line. */
export function orFail<Value>(read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (error instanceof ConfigError) fail(error.message)
    throw error
  }
}

/** For a database error: ends the process if the database belongs to the other environment. */
export function failIfOtherEnvironment(error: unknown): never {
  if (error instanceof OtherEnvironment) fail(error.message)
  throw error
}

/** Why something failed, in one line; a gRPC error has it without the status code in `details`, some with a full stop. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'details' in error && typeof error.details === 'string'
    ? error.details.replace(/\.$/, '')
    : error.message
}
