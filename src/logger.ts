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
    serializers: { err: (error: Error) => withoutRow(stdSerializers.err(error)) },
  }
  return pino(options, destination)
}

function withoutRow({ type, message, stack, ...rest }: ReturnType<typeof stdSerializers.err>) {
  const code: unknown = rest.code
  return { type, message, stack, ...(code !== undefined && { code }) }
}
