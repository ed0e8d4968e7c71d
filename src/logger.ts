import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'

/**
 * The process's log: JSON lines on stdout. An error is its type, message and stack; a driver's error would
 * bring the row along in its other fields, and a row is personal data.
 */
export function createLogger(
  level: string,
  name: 'api' | 'worker',
  destination: DestinationStream = pino.destination(1),
): Logger {
  const options = {
    level,
    base: { process: name },
    timestamp: pino.stdTimeFunctions.isoTime,
    // ours are logged as err, those of an activity by Temporal's SDK as error
    serializers: { err: withoutRow, error: withoutRow },
  }
  return pino(options, destination)
}

function withoutRow(error: Error) {
  const { type, message, stack, ...rest } = stdSerializers.err(error)
  const code: unknown = rest.code
  return { type, message, stack, ...(code !== undefined && { code }) }
}
