import { sql as raw } from 'kysely'
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

/** How long a key is remembered; after that it is as good as new. */
const freshSince = raw<Date>`now() - interval '24 hours'`

/** A twin that began later committed earlier. */
class KeyTaken extends Error {}

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
    const twin =
      error instanceof KeyTaken && idempotency && (await findAnswer<Answer>(sql, partnerId, idempotency))
    if (twin) return twin
    throw error
  }
}

async function keep(trx: Sql, partnerId: number, leadId: number, idempotency: Idempotency, answer: unknown) {
  const { key, requestHash } = idempotency
  const response = JSON.stringify(answer)
  const row = { request_hash: requestHash, response, lead_id: leadId }
  const { numInsertedOrUpdatedRows: kept } = await trx
    .insertInto('idempotency_keys')
    .values({ partner_id: partnerId, key, ...row })
    .onConflict((conflict) =>
      conflict
        .columns(['partner_id', 'key'])
        .doUpdateSet({ ...row, created_at: raw<Date>`now()` })
        .where('idempotency_keys.created_at', '<=', freshSince),
    )
    .executeTakeFirst()
  if (kept === 0n) throw new KeyTaken('another request with this key was first')
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
