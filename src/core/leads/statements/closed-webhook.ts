import { sql as raw } from 'kysely'
import type { Sql } from '../../database/orm.ts'
import { jsonb } from '../../database/jsonb.ts'
import { currentGeneration } from '../../record/statements/generation.ts'
import { LEAD_CLOSED_WEBHOOK } from '../decisions/closed-webhook.ts'
import type { AnyCloseReason } from '../decisions/reasons.ts'
import { sequenceIn } from '../decisions/recording-decision.ts'
import { newEventId, type WebhookBody } from './new-lead.ts'

interface ClosedLead {
  leadId: number
  partnerId: number
  partnerLeadId: string | null
  reason: AnyCloseReason
  /** On the lead's clock. */
  closedAt: Date
  nextSequence: number
  generation: number
}

/**
 * Inserts the webhook `lead.closed` for a partner who asked for it, as the last of the lead's, with the transaction that
 * closes the lead and holds its lock.
 */
export async function insertClosedWebhook(
  trx: Sql,
  { leadId, partnerId, partnerLeadId, reason, closedAt, ...lead }: ClosedLead,
  toBody: WebhookBody,
): Promise<void> {
  const asked = await trx
    .selectFrom('endpoints')
    .select(currentGeneration.as('current'))
    .where('partner_id', '=', partnerId)
    .where('is_told_of_closing', '=', true)
    .executeTakeFirst()
  if (asked === undefined) return
  const eventId = newEventId()
  const sequence = sequenceIn(lead, asked.current)
  const payload = { reason }
  const ids = { lead_id: leadId, partner_id: partnerId }
  await trx
    .with('closed', (cte) =>
      cte.insertInto('lead_events').values({
        ...ids,
        id: eventId,
        position: null,
        event_name: LEAD_CLOSED_WEBHOOK,
        event_payload: jsonb(payload),
        dedupe_key: LEAD_CLOSED_WEBHOOK,
        created_at: closedAt,
        generation: asked.current,
      }),
    )
    .with('queued', (cte) =>
      cte.insertInto('deliveries').values({
        ...ids,
        event_id: eventId,
        sequence,
        body: toBody({
          eventId,
          eventName: LEAD_CLOSED_WEBHOOK,
          eventPayload: payload,
          createdAt: closedAt,
          leadId,
          partnerLeadId,
          sequence,
        }),
        next_attempt_at: raw<Date>`clock_timestamp()`,
      }),
    )
    .updateTable('leads')
    .set({ next_sequence: sequence + 1, generation: asked.current })
    .where('id', '=', leadId)
    .execute()
}
