import { wanted } from '../deliveries/attempt.ts'
import { sequenceOf, waitsFor } from '../deliveries/delivery.ts'
import { nextAttemptAt, shownState } from '../deliveries/list-deliveries.ts'
import type { InHistory } from '../leads/event-payloads.ts'
import { pages, type Sql } from '../database/sql.ts'

/** What is kept of a lead in other tables, page by page: each page is a statement of its own, so none takes long. */

const EVENTS = 1000
/** With their bodies, and the first attempts of each. */
const DELIVERIES = 25
const ATTEMPTS = 10
/** Those of one delivery that has more. */
const MORE_ATTEMPTS = 250
const ACTIONS = 1000

export function eventsOf(sql: Sql, leadId: number) {
  const read = (after: number, limit: number) =>
    sql
      .selectFrom('lead_events')
      .select(['position', 'id as event_id', 'event_name', 'event_payload', 'created_at'])
      .select(sequenceOf('lead_events.id').as('sequence'))
      .where('lead_id', '=', leadId)
      .where('position', '>', after)
      .$narrowType<InHistory>()
      .orderBy('position')
      .limit(limit)
      .execute()
  return pages(EVENTS, 0, read, ({ position }) => position)
}

export function deliveriesOf(sql: Sql, leadId: number) {
  const read = async (after: number, limit: number) => {
    const deliveries = await sql
      .selectFrom('deliveries')
      .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
      .innerJoin('leads', 'leads.id', 'deliveries.lead_id')
      .select(['sequence', 'event_id', shownState.as('state'), 'body'])
      .select([nextAttemptAt.as('next_attempt_at'), 'settled_at'])
      .select(waitsFor.as('waits_for'))
      .where('lead_id', '=', leadId)
      .where('sequence', '>', after)
      .orderBy('sequence')
      .limit(limit)
      .execute()
    const ids = deliveries.map(({ event_id: id }) => id)
    const first = await firstAttempts(sql, ids)
    return deliveries.map((row) => {
      const attempts = attemptPages(sql, row.event_id, first.get(row.event_id) ?? [])
      return { ...row, attempts }
    })
  }
  return pages(DELIVERIES, 0, read, ({ sequence }) => sequence)
}

const attemptFields = [
  'event_id',
  'number',
  'trigger',
  'started_at',
  'finished_at',
  'duration_ms',
  'address',
  'status',
  'error_code',
  'hint',
  'response_headers',
  'response_body',
] as const

/** The first attempts of each of the deliveries. */
async function firstAttempts(sql: Sql, eventIds: string[]) {
  const rows = await sql
    .selectFrom(wanted(eventIds))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('attempts')
          .select(attemptFields)
          .whereRef('attempts.event_id', '=', 'wanted.event')
          .orderBy('number')
          .limit(ATTEMPTS)
          .as('first'),
      (join) => join.onTrue(),
    )
    .selectAll('first')
    .orderBy('number')
    .execute()
  return Map.groupBy(rows, (row) => row.event_id)
}

/** A delivery's attempts, the first of which are read. */
async function* attemptPages(sql: Sql, eventId: string, first: Attempt[]): AsyncGenerator<Attempt[]> {
  yield first
  if (first.length < ATTEMPTS) return
  const read = (after: number, limit: number) =>
    sql
      .selectFrom('attempts')
      .select(attemptFields)
      .where('event_id', '=', eventId)
      .where('number', '>', after)
      .orderBy('number')
      .limit(limit)
      .execute()
  yield* pages(MORE_ATTEMPTS, first.at(-1)?.number ?? 0, read, ({ number }) => number)
}

export type Attempt = NonNullable<ReturnType<Awaited<ReturnType<typeof firstAttempts>>['get']>>[number]

export function actionsOn(sql: Sql, leadId: number) {
  const read = (after: number, limit: number) =>
    sql
      .selectFrom('audit')
      .select(['id', 'at', 'actor', 'action', 'outcome', 'detail'])
      .where('lead_id', '=', leadId)
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit)
      .execute()
  return pages(ACTIONS, 0, read, ({ id }) => id)
}

/** The keys with which the lead was created, those that are still kept. */
export async function idempotencyKeysOf(sql: Sql, partnerId: number, leadId: number) {
  return sql
    .selectFrom('idempotency_keys')
    .select(['key', 'created_at'])
    .where('partner_id', '=', partnerId)
    .where('lead_id', '=', leadId)
    .execute()
}
