import type { ReservedLeadId } from './ids.ts'
import { freshSince, type Idempotency, insertLead, type NewLead, type WebhookBody } from './new-lead.ts'
import type { Sql } from '../orm.ts'

interface Made<Answer> {
  answer: Answer
  leadId: number
}

/** `created`: in that generation of the record. */
export type Created<Answer> = Made<Answer> & ({ kind: 'created'; generation: number } | { kind: 'replayed' })

/**
 * Creates a lead in one statement, which also inserts the `Idempotency-Key`, if there is one: a concurrent repeat waits
 * for the commit and gets the same answer.
 */
export async function createLead<Answer>(
  { sql, takeLeadId }: { sql: Sql; takeLeadId: () => Promise<ReservedLeadId> },
  partnerId: number,
  lead: NewLead,
  toBody: WebhookBody,
  toAnswer: (leadId: number) => Answer,
  idempotency?: Idempotency,
): Promise<Created<Answer> | { kind: 'conflict' }> {
  if (idempotency !== undefined) {
    const earlier = await findAnswer<Answer>(sql, partnerId, idempotency)
    if (earlier !== undefined) return earlier
  }
  const reserved = await takeLeadId()
  const { leadId, generation } = reserved
  const answer = toAnswer(leadId)
  const kept = idempotency && { ...idempotency, response: JSON.stringify(answer) }
  if (await insertLead(sql, reserved, partnerId, lead, toBody, kept))
    return { kind: 'created', answer, leadId, generation }
  const twin = idempotency && (await findAnswer<Answer>(sql, partnerId, idempotency))
  if (twin === undefined) throw new Error('a key was taken and is not there')
  return twin
}

async function findAnswer<Answer>(
  sql: Sql,
  partnerId: number,
  { key, requestHash }: Idempotency,
): Promise<Created<Answer> | { kind: 'conflict' } | undefined> {
  const row = await sql
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'response', 'lead_id'])
    .where('partner_id', '=', partnerId)
    .where('key', '=', key)
    .where('created_at', '>', freshSince)
    .executeTakeFirst()
  if (row === undefined) return undefined
  if (row.request_hash !== requestHash) return { kind: 'conflict' }
  return { kind: 'replayed', answer: JSON.parse(row.response) as Answer, leadId: row.lead_id }
}
