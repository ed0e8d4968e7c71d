import { type Logger, pino, stdSerializers } from 'pino'

/**
 * The process's log: JSON lines on stdout. An error is its type, message and stack; a driver's error would
 * bring the row along in its other fields, and a row is personal data.
 */
export function createLogger(level: string, name: 'api' | 'worker'): Logger {
  return pino({
    level,
    base: { process: name },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (error: Error) => withoutRow(stdSerializers.err(error)) },
  })
}

function withoutRow({ type, message, stack, ...rest }: ReturnType<typeof stdSerializers.err>) {
  const code: unknown = rest.code
  return { type, message, stack, ...(code !== undefined && { code }) }
}
