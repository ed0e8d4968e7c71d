import { type RawBuilder, sql as raw } from 'kysely'
import { jsonb, type Sql } from '../database/sql.ts'
import { insertKey, type KeyedRequest, requestHashPlace } from '../http/idempotency.ts'
import { seal } from '../seal.ts'
import { newUuid } from '../values.ts'
import type { WebhookBody } from '../webhooks/body.ts'
import { changeableFields, eachField, type OptionalField, requiredFields } from './lead-fields.ts'
import { type Borrower, hashesOfEmail, sealBorrower } from './lead.ts'

/** A new lead's id, and PostgreSQL's time. */
export interface ReservedLeadId {
  leadId: number
  createdAt: Date
}

/** Ids in a block under load. A block lasts for `BLOCK_MS`. */
const BLOCK = 32
const BLOCK_MS = 1000

/**
 * Hands out lead ids from the identity's sequence, with PostgreSQL's time. The body of the first webhook contains the id:
 * known beforehand, it lets one statement write lead, event and delivery instead of four.
 *
 * One id at a time while leads are rare, blocks under load. The rest of a block is dropped after a second, because
 * PostgreSQL's clock may have been set since; that leaves a gap in the ids.
 *
 * @param monotonicMs a monotonic clock, in milliseconds.
 */
export function leadIds(sql: Sql, monotonicMs = () => performance.now()): () => Promise<ReservedLeadId> {
  let block: { id: number; now: Date }[] = []
  let takenAt = Number.NEGATIVE_INFINITY
  let taking: Promise<void> | undefined
  const ageMs = () => monotonicMs() - takenAt

  async function take(size: number): Promise<void> {
    const { rows } = await raw<{ id: number; now: Date }>`
      select nextval(pg_get_serial_sequence('leads', 'id'))::int as id, clock_timestamp() as now
      from generate_series(1, ${size}::int)`.execute(sql)
    ;[block, takenAt] = [rows, monotonicMs()]
  }

  return async () => {
    for (;;) {
      const next = ageMs() < BLOCK_MS ? block.shift() : undefined
      if (next !== undefined) return { leadId: next.id, createdAt: new Date(next.now.getTime() + ageMs()) }
      taking ??= take(ageMs() < BLOCK_MS ? BLOCK : 1).finally(() => (taking = undefined))
      await taking
    }
  }
}

/** A referral as a partner sends it; absent optional fields are `null`. */
export type NewLead = Omit<Borrower, 'metadata'> & Record<OptionalField, string | null>

const ownColumns = raw.join(changeableFields.map((name) => raw.ref(name)))

export const newEventId = () => `evt_${newUuid()}`

/** When the event was recorded, from the milliseconds at the beginning of its id: a lead's own clock may be ahead. */
export const recordedAt = (eventId: string) =>
  new Date(Number.parseInt(eventId.slice(4, 17).replace('-', ''), 16))

/** A request's key, with the answer that a repeat of it gets. */
interface KeptKey extends KeyedRequest {
  response: string
}

/** The newest leads with one `partner_lead_id` or address that are searched, so that the cost is bounded. */
const LOOKED_AT = 20

/**
 * The newest open lead that has the same `partner_lead_id` or address. Nothing is locked, so two concurrent requests do not
 * find each other's lead.
 *
 * @param emailHashes one for each encryption key. Each has its own index scan.
 */
const duplicateOf = (partnerId: number, partnerLeadId: string | null, emailHashes: readonly string[]) => raw`
  select max(id) as id from (
    (select id, closed_at from leads where partner_id = ${partnerId} and partner_lead_id = ${partnerLeadId}
      order by id desc limit ${raw.lit(LOOKED_AT)})
    union all
    select own.id, own.closed_at from unnest(${emailHashes}::text[]) as hash cross join lateral (
      select id, closed_at from leads where email_hash = hash and partner_id = ${partnerId}
      order by id desc limit ${raw.lit(LOOKED_AT)}
    ) as own
  ) as newest where closed_at is null`

/**
 * Inserts a lead, its `lead_received` event, that event's delivery, which is due at once by PostgreSQL's clock, and the
 * idempotency key, if there is one: all in one statement, to save round trips.
 *
 * @param encryptionKeys the first of them seals the personal data.
 * @returns the event's id and the duplicate lead, if there is one; `undefined` if the idempotency key is taken. Waits for the
 *   commit of a concurrent request with the same key.
 */
export async function insertLead(
  { sql, encryptionKeys }: { sql: Sql; encryptionKeys: readonly Buffer[] },
  { leadId, createdAt }: ReservedLeadId,
  partnerId: number,
  lead: NewLead,
  toBody: WebhookBody,
  { kept, requestId }: { kept?: KeptKey | undefined; requestId?: string | undefined } = {},
): Promise<{ eventId: string; duplicateOf: number | null } | undefined> {
  const eventId = newEventId()
  const { partner_lead_id: partnerLeadId } = lead
  const eventPayload = partnerLeadId === null ? null : { partner_lead_id: partnerLeadId }
  const eventName = 'lead_received' as const
  const body = toBody({ eventId, eventName, eventPayload, createdAt, leadId, partnerLeadId, sequence: 1 })
  const ids = raw`${leadId}::int, ${partnerId}::int`
  const earlier = duplicateOf(partnerId, partnerLeadId, hashesOfEmail(lead.email, encryptionKeys))
  const earlierId = raw`(select id from earlier)`
  const key = kept === undefined ? raw`key as (select)` : keepKey(leadId, kept, earlierId, encryptionKeys)
  const borrower = { ...eachField(requiredFields, (name) => lead[name]), notes: lead.notes, metadata: {} }
  const { personal, email_hash } = sealBorrower(leadId, borrower, encryptionKeys)
  const { rows } = await raw<{ duplicate_of: number | null }>`
    with earlier as materialized (${earlier}), ${key}, lead as (
      insert into leads (id, partner_id, personal, email_hash, ${ownColumns}, status, next_position, next_sequence,
        last_event_at, created_at, updated_at)
      select ${ids}, ${personal}, ${email_hash}, ${raw.join(changeableFields.map((name) => lead[name]))},
        'lead_received', 2, 2, ${createdAt}::timestamptz, ${createdAt}::timestamptz, ${createdAt}::timestamptz
      from key
    ), event as (
      insert into lead_events (lead_id, partner_id, id, position, event_name, event_payload, dedupe_key, created_at)
      select ${ids}, ${eventId}, 1, 'lead_received', ${jsonb(eventPayload)}, 'lead_received', ${createdAt}::timestamptz
      from key
    )
    insert into deliveries (lead_id, partner_id, event_id, sequence, body, next_attempt_at, request_id)
    select ${ids}, ${eventId}, 1, ${body}, clock_timestamp(), ${requestId ?? null}::uuid
    from key
    returning ${earlierId} as duplicate_of`.execute(sql)
  return rows[0] && { eventId, duplicateOf: rows[0].duplicate_of }
}

function keepKey(
  leadId: number,
  kept: KeptKey,
  earlierId: RawBuilder<unknown>,
  encryptionKeys: readonly Buffer[],
) {
  const requestHash = seal(kept.requestHash, requestHashPlace(leadId), encryptionKeys)
  // `duplicate_of`, which only the statement knows, stands last, as in the first answer
  const response = raw<string>`case when ${earlierId} is null then ${kept.response}
    else left(${kept.response}, -1) || ',"duplicate_of":' || ${earlierId} || '}' end`
  return raw`key as (${insertKey({ ...kept, requestHash, response, leadId })})`
}
