import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'

/**
 * The API writes a line for each request: many in one go, after a quarter of a second at the latest, and when the process
 * exits. What the worker logs is rare, and written at once.
 */
const destinations = {
  api: { dest: 1, sync: false, minLength: 4096, periodicFlush: 250 },
  worker: { dest: 1, sync: true },
}

/**
 * The process's log, as JSON lines on stdout. Only the type, message, stack and code of an error are logged: a database
 * driver's error has the row in its other fields, and rows are personal data.
 */
export function createLogger(
  level: string,
  name: 'api' | 'worker',
  destination: DestinationStream = pino.destination(destinations[name]),
): Logger {
  const options = {
    level,
    base: { process: name },
    timestamp: pino.stdTimeFunctions.isoTime,
    // we log errors as `err`, and Temporal's SDK logs those of activities as `error`
    serializers: { err: withoutRow, error: withoutRow },
  }
  return pino(options, destination)
}

function withoutRow(error: Error) {
  const { type, message, stack, ...rest } = stdSerializers.err(error)
  const code: unknown = rest.code
  return { type, message, stack, ...(code !== undefined && { code }) }
}
