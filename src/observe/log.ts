import { hostname } from 'node:os'
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import { leadOf } from '../temporal/names.ts'

interface Options {
  /** Which code runs: tells lines before a deployment from those after it. */
  build?: string
  /** Stdout, unless a test reads the lines. */
  destination?: DestinationStream
}

/**
 * The process's log, as JSON lines on stdout: see docs/operations.md. Only the type, message, stack and code of
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

const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const

/** While Temporal is away, the SDK writes this several times a second. */
const RETRIED = /^gRPC call \w+ retried \d+ times$/
const QUIET_MS = 60_000

/** Writes the lines of Temporal's SDK into our log. During an outage, one a minute is a warning, and the rest is `debug`. */
export function sdkLines(log: Pick<Logger, (typeof levels)[keyof typeof levels]>) {
  let saidAt = Number.NEGATIVE_INFINITY
  return ({ level, message, meta }: SdkLine): void => {
    const fields = sdkFields({ ...meta })
    if (RETRIED.test(message)) {
      if (performance.now() - saidAt < QUIET_MS) return log.debug(fields, message)
      saidAt = performance.now()
      return log.warn(fields, 'Temporal does not answer the worker; it tries again until Temporal does')
    }
    // the workers of deliveries and scores have no workflows, by design
    const ours = message.startsWith('No workflows registered') ? 'debug' : levels[level]
    log[ours](fields, message)
  }
}

interface SdkLine {
  level: keyof typeof levels
  message: string
  meta?: object
}

/** By our own names for the lead, its workflow and the error, so that one filter finds all lines. */
function sdkFields({ workflowId, workflowRunId, runId, error, ...sdk }: Record<string, unknown>) {
  return {
    lead_id: leadOf(String(workflowId)),
    workflow_id: workflowId,
    run_id: workflowRunId ?? runId,
    err: error,
    sdk,
  }
}
