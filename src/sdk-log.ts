import type { Logger } from 'pino'
import { leadOf } from './core/temporal/names.ts'
import type { TemporalOutage } from './temporal-outage.ts'

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
