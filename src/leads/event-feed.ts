import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { bodyOf, sequenceOf } from '../deliveries/delivery.ts'

/** A place in a partner's feed: after this event. `position` is 0 for a closing, which is in no history. */
export interface FeedPosition {
  epoch: number
  txid: string
  leadId: number
  position: number
}

/** Before every event. */
export const BEGINNING: FeedPosition = { epoch: 0, txid: '0', leadId: 0, position: 0 }

const PLACE = raw`(lead_events.epoch, lead_events.txid, lead_events.lead_id, lead_events.position)`

const placeOf = ({ epoch, txid, leadId, position }: FeedPosition) =>
  raw`(${epoch}::int, ${txid}::xid8, ${leadId}::bigint, ${position}::bigint)`

const epochAndTxid = ['lead_events.epoch', raw<string>`lead_events.txid::text`.as('txid')] as const

/**
 * Events of transactions that may still be under way are left for later, with all that came after them: nothing ever
 * appears before a place that was handed out. Those of an earlier epoch may be from another cluster.
 */
const isSettled = raw<boolean>`(lead_events.epoch < current_epoch()
  or lead_events.txid < pg_snapshot_xmin(pg_current_snapshot()))`

/** `lead.closed` has none, and is alone in its transaction: so it comes after whatever is before it there. */
const POSITION = raw<number>`coalesce(position, 0)`

/** A partner's events of all leads after a place, in the order in which they were committed; with the body of each webhook. */
export async function eventsAfter(
  sql: Sql,
  partnerId: number,
  after: FeedPosition,
  limit: number,
  { webhooks } = { webhooks: false },
) {
  return (
    sql
      .selectFrom('lead_events')
      .innerJoin('leads', 'leads.id', 'lead_events.lead_id')
      .select(['lead_events.id as event_id', 'event_name', 'event_payload', 'lead_events.created_at'])
      .select(['lead_events.lead_id', 'leads.partner_lead_id', ...epochAndTxid])
      .select([POSITION.as('position'), sequenceOf('lead_events.id').as('sequence')])
      .$if(webhooks, (query) => query.select(bodyOf('lead_events.id').as('body')))
      .where('lead_events.partner_id', '=', partnerId)
      .where(raw<boolean>`${PLACE} > ${placeOf(after)}`)
      .where(isSettled)
      .orderBy('lead_events.epoch')
      // not the text of that name in the result, in which 1000 comes before 999
      .orderBy('lead_events.txid')
      .orderBy('lead_events.lead_id')
      .orderBy('lead_events.position')
      .limit(limit)
      .execute()
  )
}

/** Where a partner's feed ends: now, or at a place at the latest. */
export async function lastEvent(sql: Sql, partnerId: number, notAfter?: FeedPosition) {
  return sql
    .selectFrom('lead_events')
    .select(['lead_id', POSITION.as('position'), ...epochAndTxid])
    .where('partner_id', '=', partnerId)
    .where(isSettled)
    .$if(notAfter !== undefined, (query) =>
      query.where(raw<boolean>`${PLACE} <= ${placeOf(notAfter ?? BEGINNING)}`),
    )
    .orderBy('epoch', 'desc')
    .orderBy(raw`lead_events.txid`, 'desc')
    .orderBy('lead_id', 'desc')
    .orderBy('lead_events.position', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/**
 * What is wrong with a place that a partner continues from:
 *
 * - `foreign`: it is of a epoch that begins later than the record's, or of a lead that the partner does not have. It is
 *   from another record or account, so that nothing of the feed is known after it.
 * - `lost`: it is of an earlier epoch, and the record has no event there any more.
 * - `ahead`: it is of this epoch, and after all events: the record went back, and nobody has noticed yet.
 *
 * @returns `undefined` if nothing is.
 */
export async function faultOfPlace(
  sql: Sql,
  partnerId: number,
  place: FeedPosition,
): Promise<'foreign' | 'lost' | 'ahead' | undefined> {
  const { epoch, txid, leadId, position } = place
  const { rows } = await raw<{ fault: 'foreign' | 'lost' | 'ahead' | null }>`
    select case
      when ${epoch}::int > current_epoch() then 'foreign'
      when exists (
        select from lead_events where partner_id = ${partnerId} and epoch = ${epoch}::int and txid = ${txid}::xid8
          and lead_id = ${leadId}::bigint and ${POSITION} = ${position}::bigint
      ) then null
      when ${epoch}::int < current_epoch() then 'lost'
      when not exists (select from lead_events where partner_id = ${partnerId} and ${PLACE} > ${placeOf(place)})
        then 'ahead'
      when not exists (select from leads where id = ${leadId}::bigint and partner_id = ${partnerId}) then 'foreign'
    end as fault`.execute(sql)
  return rows[0]?.fault ?? undefined
}

/** Which of the places have news after them, by their indexes. */
async function placesWithNews(
  sql: Sql,
  places: readonly { partnerId: number; after: FeedPosition }[],
): Promise<number[]> {
  const { rows } = await raw<{ index: number }>`
    select (place.number - 1)::int as index
    from unnest(
      ${places.map(({ partnerId }) => partnerId)}::int[],
      ${places.map(({ after }) => after.epoch)}::int[],
      ${places.map(({ after }) => after.txid)}::text[],
      ${places.map(({ after }) => after.leadId)}::bigint[],
      ${places.map(({ after }) => after.position)}::bigint[]
    ) with ordinality as place (partner_id, epoch, txid, lead_id, position, number)
    where exists (
      select from lead_events
      where lead_events.partner_id = place.partner_id
        and ${PLACE} > (place.epoch, place.txid::xid8, place.lead_id, place.position)
        and ${isSettled}
    )`.execute(sql)
  return rows.map(({ index }) => index)
}

const LOOK_MS = 500
/** Of one key, at a time. */
export const MOST_WAITS = 2

interface Waiter {
  partnerId: number
  after: FeedPosition
  wake: () => void
}

/** Waits for news in partners' feeds: one query every half second for all who wait, and none while nobody does. */
export function createFeedWatch(sql: Sql) {
  const waiters = new Set<Waiter>()
  const waitsOfKey = new Map<number, number>()
  let looking: NodeJS.Timeout | undefined
  let closed = false

  async function look(): Promise<void> {
    const asked = [...waiters]
    // waiting requests ask again, and get an error there
    const found = await placesWithNews(sql, asked).catch(() => asked.map((_, index) => index))
    for (const index of found) asked[index]?.wake()
    looking = waiters.size > 0 ? setTimeout(() => void look(), LOOK_MS) : undefined
  }

  return {
    /** Whether another wait of this key is possible. */
    hasRoom: (keyId: number): boolean => (waitsOfKey.get(keyId) ?? 0) < MOST_WAITS,

    /** Resolves when there is news after a place, after `ms`, when `gone` aborts, or when the process stops. */
    async wait(keyId: number, place: Omit<Waiter, 'wake'>, ms: number, gone: AbortSignal): Promise<void> {
      if (closed || gone.aborted) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const wake = () => resolve()
      const waiter = { ...place, wake }
      const timer = setTimeout(wake, ms)
      gone.addEventListener('abort', wake, { once: true })
      waiters.add(waiter)
      waitsOfKey.set(keyId, (waitsOfKey.get(keyId) ?? 0) + 1)
      looking ??= setTimeout(() => void look(), LOOK_MS)
      try {
        await promise
      } finally {
        clearTimeout(timer)
        gone.removeEventListener('abort', wake)
        waiters.delete(waiter)
        const left = (waitsOfKey.get(keyId) ?? 1) - 1
        if (left > 0) waitsOfKey.set(keyId, left)
        else waitsOfKey.delete(keyId)
      }
    },

    /** Ends all waits. */
    close(): void {
      closed = true
      clearTimeout(looking)
      for (const { wake } of waiters) wake()
    },
  }
}
