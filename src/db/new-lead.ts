import { sql as raw } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import type { WebhookFacts } from '../domain/webhook-facts.ts'
import { jsonb } from './jsonb.ts'
import type { Sql } from './orm.ts'

/** A referral as a partner sends it; absent optional fields are `null`. */
export interface NewLead {
  first_name: string
  last_name: string
  email: string
  phone: string
  partner_lead_id: string | null
  fico_range: string | null
  loan_officer_id: string | null
  notes: string | null
}

/** Makes the body of a delivery; given by the caller, who knows the wire format. */
export type WebhookBody = (facts: WebhookFacts) => string

export const newEventId = () => `evt_${uuidv7()}`

/**
 * Inserts a lead, its `lead_received` event and that event's delivery, within the caller's transaction.
 *
 * @returns the lead's id.
 */
export async function insertLead(
  trx: Sql,
  partnerId: number,
  lead: NewLead,
  toBody: WebhookBody,
): Promise<number> {
  const now = raw<Date>`now()`
  const { id: leadId, created_at: createdAt } = await trx
    .insertInto('leads')
    .values({
      ...lead,
      partner_id: partnerId,
      status: 'lead_received',
      next_position: 2,
      next_sequence: 2,
      last_event_at: now,
      created_at: now,
      updated_at: now,
    })
    .returning(['id', 'created_at'])
    .executeTakeFirstOrThrow()
  await insertLeadReceived(trx, { leadId, partnerId, createdAt, partnerLeadId: lead.partner_lead_id }, toBody)
  return leadId
}

async function insertLeadReceived(
  trx: Sql,
  lead: { leadId: number; partnerId: number; createdAt: Date; partnerLeadId: string | null },
  toBody: WebhookBody,
): Promise<void> {
  const { leadId, partnerId, partnerLeadId } = lead
  const eventId = newEventId()
  const eventPayload = partnerLeadId === null ? null : { partner_lead_id: partnerLeadId }
  const createdAt = raw<Date>`now()`
  const facts: WebhookFacts = { ...lead, eventId, eventName: 'lead_received', eventPayload, sequence: 1 }
  const ids = { lead_id: leadId, partner_id: partnerId }
  await trx
    .with('event', (cte) =>
      cte.insertInto('lead_events').values({
        ...ids,
        id: eventId,
        position: 1,
        event_name: 'lead_received',
        event_payload: jsonb(eventPayload),
        dedupe_key: 'lead_received',
        created_at: createdAt,
      }),
    )
    .insertInto('deliveries')
    .values({ ...ids, event_id: eventId, sequence: 1, body: toBody(facts), next_attempt_at: createdAt })
    .execute()
}
