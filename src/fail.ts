import { ConfigError } from './config.ts'
import { OtherEnvironment } from './db/deployment.ts'

/** Ends the process with one readable line: whoever started it can do something about it. */
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

/** For a failure of a database: ends the process when it belongs to the other environment. */
export function failIfOtherEnvironment(error: unknown): never {
  if (error instanceof OtherEnvironment) fail(error.message)
  throw error
}
