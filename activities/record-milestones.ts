import type { Logger } from 'pino'
import type { WebhookBody } from '../src/webhooks/body.ts'
import type { Sql } from '../src/database/sql.ts'
import { type Opening, recordMilestones } from '../src/leads/record-milestones.ts'
import type { Environment } from '../src/values.ts'
import type { WorkerObserver } from '../src/observe/worker-metrics.ts'
import type { MilestoneItem, Recording, SettledUpTo } from '../src/leads/referral-state.ts'
import type { Attempts } from './attempts.ts'
import { millisecondsSince, otherLead, workflowFields } from './activity-context.ts'

export interface RecordingDependencies {
  sql: Sql
  encryptionKeys: readonly Buffer[]
  webhookBody: WebhookBody
  /** Milestones are simulated in a sandbox only. */
  environment: Environment
  attempts: Attempts
  observe: Pick<WorkerObserver, 'recorded'>
  log: Pick<Logger, 'info'>
}

/**
 * Records milestones, with a line in the log for each. If all earlier webhooks are `settled`, it also makes the first attempt
 * at the next one.
 */
export function recordMilestonesActivity(dependencies: RecordingDependencies) {
  const { sql, attempts, encryptionKeys, webhookBody, environment, observe, log } = dependencies
  const isSandbox = environment === 'sandbox'
  return async (leadId: number, items: MilestoneItem[], settled?: SettledUpTo): Promise<Recording> => {
    const record = async (opening?: Opening) => {
      const began = performance.now()
      const recorded = await recordMilestones(sql, leadId, items, webhookBody, { opening, isSandbox })
      for (const line of linesOf(leadId, items, recorded, millisecondsSince(began))) {
        log.info(line, 'recording')
        if (line.outcome === 'recorded') observe.recorded(line.event)
      }
      return recorded
    }
    const recordAndSend = async ({ partnerId, after }: SettledUpTo) => {
      const opening = { after, encryptionKeys }
      const attempt = await attempts.begin(partnerId, () => record(opening))
      if (attempt === undefined) return record()
      const { begun: recorded, making } = attempt
      if (recorded === undefined || making === undefined) return recorded
      // whatever comes of it is in the record, and `deliverWebhook` goes on from there
      if (!(await attempts.inTime(making.then(({ end }) => end === 'delivered')))) return recorded
      return { recording: { ...recorded.recording, delivered: after + 1 } }
    }
    const recorded = await (settled ? recordAndSend(settled) : record())
    if (recorded === undefined) throw otherLead()
    return recorded.recording
  }
}

type Recorded = Awaited<ReturnType<typeof recordMilestones>>

/** The log's fields of each milestone. */
function linesOf(leadId: number, items: readonly MilestoneItem[], recorded: Recorded, durationMs: number) {
  return items.map(({ name, requestId }, index) => {
    const { outcome = 'missing', eventId, sequence } = recorded?.recording.outcomes[index] ?? {}
    return {
      ...(recorded && { partner_id: recorded.partnerId }),
      lead_id: leadId,
      event: name,
      ...(eventId !== undefined && { event_id: eventId }),
      ...(sequence !== undefined && { sequence }),
      outcome,
      duration_ms: durationMs,
      ...(requestId !== undefined && { request_id: requestId }),
      ...workflowFields(),
    }
  })
}
