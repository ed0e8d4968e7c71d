import type { ReservedLeadId } from './ids.ts'
import { insertLead, type LeadExtras, type NewLead, type WebhookBody } from './new-lead.ts'
import type { Sql } from '../../database/sql.ts'
import { findAnswer as find, type KeyedRequest } from '../../idempotency/statements/answers.ts'

export interface LeadCreation {
  sql: Sql
  takeLeadId: () => Promise<ReservedLeadId>
  encryptionKeys: readonly Buffer[]
}

interface Made<Answer> {
  answer: Answer
  leadId: number
}

/** The key's lead was made from another body. */
interface Conflict {
  kind: 'conflict'
  leadId: number
}

export type Created<Answer> = Made<Answer> & ({ kind: 'created'; eventId: string } | { kind: 'replayed' })

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
  { keyed, ...extras }: LeadExtras & { keyed?: KeyedRequest | undefined } = {},
): Promise<Created<Answer> | Conflict> {
  if (keyed !== undefined) {
    const earlier = await findAnswer<Answer>(creation, keyed)
    if (earlier !== undefined) return earlier
  }
  const reserved = await creation.takeLeadId()
  const { leadId } = reserved
  const kept = keyed && { ...keyed, response: JSON.stringify(toAnswer(leadId)) }
  const inserted = await insertLead(creation, reserved, partnerId, lead, toBody, { kept, ...extras })
  if (inserted !== undefined) {
    const answer = toAnswer(leadId, inserted.duplicateOf ?? undefined)
    return { kind: 'created', answer, leadId, eventId: inserted.eventId }
  }
  const twin = keyed && (await findAnswer<Answer>(creation, keyed))
  if (twin === undefined) throw new Error('a key was taken and is not there')
  return twin
}

async function findAnswer<Answer>(
  { sql, encryptionKeys }: LeadCreation,
  keyed: KeyedRequest,
): Promise<Created<Answer> | Conflict | undefined> {
  const found = await find<Answer>(sql, keyed, encryptionKeys)
  if (found === undefined) return undefined
  const { leadId } = found
  if (leadId === null) throw new Error('a key of create-lead has no lead')
  return found.kind === 'conflict'
    ? { kind: 'conflict', leadId }
    : { kind: 'replayed', answer: found.answer, leadId }
}
