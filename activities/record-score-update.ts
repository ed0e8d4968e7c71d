import { recordMilestones } from '../src/db/recording.ts'
import type { WebhookBody } from '../src/db/new-lead.ts'
import type { Sql } from '../src/db/orm.ts'
import type { ScoreGains } from '../src/domain/event-payloads.ts'
import type { Recording } from '../src/domain/referral.ts'
import { refuseUnknown } from './record-milestones.ts'

/** Asks for a lead's gains in a period. Rejects when there are none: they are never invented. */
export type ScoreProvider = (request: {
  leadId: number
  period: number
  dedupeKey: string
}) => Promise<ScoreGains>

interface Dependencies {
  sql: Sql
  webhookBody: WebhookBody
  scoreProvider: ScoreProvider
}

/** Records a score update with the provider's gains, which stay in PostgreSQL. */
export function recordScoreUpdateActivity({ sql, webhookBody, scoreProvider }: Dependencies) {
  return async (
    leadId: number,
    { period, dedupeKey }: { period: number; dedupeKey: string },
  ): Promise<Recording> => {
    const gains = await scoreProvider({ leadId, period, dedupeKey })
    const items = [{ name: 'score_update' as const, dedupeKey, gains }]
    return (await recordMilestones(sql, leadId, items, webhookBody)) ?? refuseUnknown(leadId)
  }
}
