import { hostname } from 'node:os'
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import { leadOf } from '../temporal/names.ts'
import type { TemporalOutage } from '../temporal/outage.ts'

interface Options {
  /** Which code runs, so that a line of before a deployment is told from one after it. */
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

/** What the SDK calls the fields that our own lines have too. */
const names: Record<string, string> = {
  workflowId: 'workflow_id',
  workflowRunId: 'run_id',
  runId: 'run_id',
  workflowType: 'workflow_type',
  activityType: 'activity_type',
  attempt: 'activity_attempt',
  taskQueue: 'task_queue',
  durationMs: 'duration_ms',
  error: 'err',
}

const RETRIED = /^gRPC call \w+ retried \d+ times$/

/** Writes the lines of Temporal's SDK into our log: under our names for their fields, the others under `sdk`. */
export function sdkLines(
  log: Pick<Logger, (typeof levels)[keyof typeof levels]>,
  outage: Pick<TemporalOutage, 'retried'>,
) {
  return ({ level, message, meta }: SdkLine): void => {
    if (RETRIED.test(message)) return outage.retried(sdkFields({ ...meta }), message)
    // the one that waits for the other has none by design
    const ours = message.startsWith('No workflows registered') ? 'debug' : levels[level]
    log[ours](sdkFields({ ...meta }), message)
  }
}

interface SdkLine {
  level: keyof typeof levels
  message: string
  meta?: object
}

/** The lead too, so that one filter finds all of its lines. */
function sdkFields(meta: Record<string, unknown>): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  const others: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(meta)) {
    const name = names[key]
    if (name === undefined) others[key] = value
    else fields[name] = value
  }
  const leadId = leadOf(String(fields.workflow_id))
  return {
    ...(leadId !== undefined && { lead_id: leadId }),
    ...fields,
    ...(Object.keys(others).length > 0 && { sdk: others }),
  }
}
