import type { ReservedLeadId } from './ids.ts'
import {
  freshSince,
  type Idempotency,
  insertLead,
  type NewLead,
  requestHashPlace,
  type WebhookBody,
  type WithLead,
} from './new-lead.ts'
import type { Sql } from '../../database/orm.ts'
import { open } from '../../sealing/seal.ts'

export interface LeadCreation {
  sql: Sql
  takeLeadId: () => Promise<ReservedLeadId>
  encryptionKeys: readonly Buffer[]
}

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
  creation: LeadCreation,
  partnerId: number,
  lead: NewLead,
  toBody: WebhookBody,
  toAnswer: (leadId: number, duplicateOf?: number) => Answer,
  { idempotency, also }: { idempotency?: Idempotency | undefined; also?: WithLead | undefined } = {},
): Promise<Created<Answer> | { kind: 'conflict' }> {
  if (idempotency !== undefined) {
    const earlier = await findAnswer<Answer>(creation, partnerId, idempotency)
    if (earlier !== undefined) return earlier
  }
  const reserved = await creation.takeLeadId()
  const { leadId, generation } = reserved
  const kept = idempotency && { ...idempotency, response: JSON.stringify(toAnswer(leadId)) }
  const inserted = await insertLead(creation, reserved, partnerId, lead, toBody, { kept, also })
  if (inserted !== undefined) {
    const answer = toAnswer(leadId, inserted.duplicateOf ?? undefined)
    return { kind: 'created', answer, leadId, generation }
  }
  const twin = idempotency && (await findAnswer<Answer>(creation, partnerId, idempotency))
  if (twin === undefined) throw new Error('a key was taken and is not there')
  return twin
}

async function findAnswer<Answer>(
  { sql, encryptionKeys }: LeadCreation,
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
  const known = open(row.request_hash, requestHashPlace(row.lead_id), encryptionKeys)
  if (known !== requestHash) return { kind: 'conflict' }
  return { kind: 'replayed', answer: JSON.parse(row.response) as Answer, leadId: row.lead_id }
}
