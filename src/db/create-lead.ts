import { insertLead, type NewLead, type WebhookBody } from './new-lead.ts'
import type { Sql } from './orm.ts'

export interface Idempotency {
  key: string
  /** A hash of the request's body: the same key with another body is a mistake. */
  requestHash: string
}

export interface Created<Answer> {
  kind: 'created' | 'replayed'
  answer: Answer
  leadId: number
}

/**
 * Creates a lead in one transaction. With an `Idempotency-Key` the key's row is part of it, so that a
 * concurrent twin waits for this one's commit and then gets its answer.
 *
 * @param toAnswer makes the answer that a repeat of the request gets too.
 */
export async function createLead<Answer>(
  sql: Sql,
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
  try {
    return await sql.transaction().execute(async (trx) => {
      const leadId = await insertLead(trx, partnerId, lead, toBody)
      const answer = toAnswer(leadId)
      if (idempotency !== undefined) await keep(trx, partnerId, leadId, idempotency, answer)
      return { kind: 'created', answer, leadId }
    })
  } catch (error) {
    const twin = idempotency && isTaken(error) && (await findAnswer<Answer>(sql, partnerId, idempotency))
    if (twin) return twin
    throw error
  }
}

async function keep(trx: Sql, partnerId: number, leadId: number, idempotency: Idempotency, answer: unknown) {
  const { key, requestHash } = idempotency
  const response = JSON.stringify(answer)
  await trx
    .insertInto('idempotency_keys')
    .values({ partner_id: partnerId, key, request_hash: requestHash, response, lead_id: leadId })
    .execute()
}

async function findAnswer<Answer>(sql: Sql, partnerId: number, { key, requestHash }: Idempotency) {
  const row = await sql
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'response', 'lead_id'])
    .where('partner_id', '=', partnerId)
    .where('key', '=', key)
    .executeTakeFirst()
  if (row === undefined) return undefined
  if (row.request_hash !== requestHash) return { kind: 'conflict' as const }
  return { kind: 'replayed' as const, answer: JSON.parse(row.response) as Answer, leadId: row.lead_id }
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === 'idempotency_keys_pkey'
}
