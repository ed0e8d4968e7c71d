import { hostname } from 'node:os'
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'

interface Options {
  /** Which code runs, so that a line of before a deployment is told from one after it. */
  build?: string
  /** Stdout, unless a test reads the lines. */
  destination?: DestinationStream
}

/**
 * The process's log, as JSON lines on stdout: docs/operations/log.md lists them. Only the type, message, stack and code of
 * an error are logged: a database driver's error has the row in its other fields, and rows are personal data.
 */
export function createLogger(
  level: string,
  name: 'api' | 'worker',
  { build = 'unknown', destination }: Options = {},
): Logger {
  const options = {
    level,
    base: { process: name, build, host: hostname(), pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    // we log errors as `err`, and Temporal's SDK logs those of activities as `error`
    serializers: { err: withoutRow, error: withoutRow },
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}

function withoutRow(error: Error) {
  const { type, message, stack, ...rest } = stdSerializers.err(error)
  const code: unknown = rest.code
  return { type, message, stack, ...(code !== undefined && { code }) }
}
