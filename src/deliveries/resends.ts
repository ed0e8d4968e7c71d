import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { ApiError, invalidPayload } from '../http/errors.ts'
import { sharingRuns } from '../temporal/in-flight.ts'
import { type Asked, type DeliveryState, MOST_RESENDS } from './delivery-states.ts'
import { waitsFor } from './delivery.ts'

/** An event of a lead that is not erased, with the state of its webhook; `null` if it has none. */
export async function findWebhook(sql: Sql, eventId: string) {
  return sql
    .selectFrom('lead_events')
    .innerJoin('leads', 'leads.id', 'lead_events.lead_id')
    .leftJoin('deliveries', 'deliveries.event_id', 'lead_events.id')
    .select(['lead_events.id as event_id', 'lead_events.lead_id', 'lead_events.partner_id'])
    .select(['deliveries.state', waitsFor.as('waits_for')])
    .where('lead_events.id', '=', eventId)
    .where('leads.erased_at', 'is', null)
    .executeTakeFirst()
}

export type Webhook = NonNullable<Awaited<ReturnType<typeof findWebhook>>>

/** For an event that does not exist, and for another partner's. */
export const unknownEvent = () => new ApiError('NOT_FOUND', 'Event not found.')
export const unsentEvent = () => invalidPayload('This event is not sent as a webhook.')

/** Requires that an event is the partner's own and has a webhook. */
export async function requireWebhook(sql: Sql, partnerId: number, eventId: string): Promise<Webhook> {
  const found = await findWebhook(sql, eventId)
  if (found?.partner_id !== partnerId) throw unknownEvent()
  if (found.state === null) throw unsentEvent()
  return found
}

/** What became of a resend, for partners and staff. */
export function describeResend({ waits_for: earlier }: Webhook): string {
  if (earlier === null) return 'The webhook will be sent again.'
  return `The webhook waits for ${earlier.event_id} (sequence ${earlier.sequence}) of the same lead. Resend that one.`
}

/**
 * Requests an attempt at a webhook, outside its schedule.
 *
 * @returns its state; `undefined` if too many settled webhooks of its partner wait already.
 */
export async function requestAttempt(sql: Sql, eventId: string): Promise<DeliveryState | undefined> {
  const { rows } = await raw<{ state: DeliveryState }>`
    update deliveries d set asked = 'resend'
    where event_id = ${eventId} and (state = 'pending' or asked is not null or (
      -- concurrent calls may exceed the limit by a few
      select count(*) from deliveries other
      where other.partner_id = d.partner_id and other.asked = 'resend' and other.state <> 'pending'
    ) < ${MOST_RESENDS})
    returning state`.execute(sql)
  return rows[0]?.state
}

/** A partner's next settled webhook to send again: resends before replays, each lead's in order. */
export async function nextAsked(sql: Sql, partnerId: number) {
  return sql
    .selectFrom('deliveries')
    .select(['lead_id as leadId', 'sequence', 'asked as trigger'])
    .where('partner_id', '=', partnerId)
    .where('asked', 'is not', null)
    .where('state', '<>', 'pending')
    .orderBy('asked', 'desc')
    .orderBy('lead_id')
    .orderBy('sequence')
    .limit(1)
    .$narrowType<{ trigger: Asked }>()
    .executeTakeFirst()
}

/** Drops a partner's resends and replays that still wait. @returns how many. */
export async function forgetAsked(sql: Sql, partnerId: number): Promise<number> {
  const { numUpdatedRows } = await sql
    .updateTable('deliveries')
    .set({ asked: null })
    .where('partner_id', '=', partnerId)
    .where('asked', 'is not', null)
    .where('state', '<>', 'pending')
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Which settled deliveries of a partner are sent again. */
export interface ReplayFilter {
  partnerId: number
  states: ('given_up' | 'delivered')[]
  /** Events from this date on. Events have the dates of their lead's clock. */
  since: Date | null
  /** Events before this date. */
  until: Date | null
}

const matching = ({ partnerId, states, since, until }: ReplayFilter) => raw`
  from leads l join deliveries d on d.lead_id = l.id join lead_events e on e.id = d.event_id
  where l.partner_id = ${partnerId} and l.erased_at is null and d.state = any(${states}::text[])
    and e.created_at >= coalesce(${since}::timestamptz, '-infinity')
    and e.created_at < coalesce(${until}::timestamptz, 'infinity')`

interface ReplayCounts {
  webhooks: number
  leads: number
}

/** What a replay would send. */
export async function countReplay(sql: Sql, filter: ReplayFilter): Promise<ReplayCounts> {
  const { rows } = await raw<ReplayCounts>`
    select count(*)::int as webhooks, count(distinct l.id)::int as leads ${matching(filter)}`.execute(sql)
  return rows[0] ?? { webhooks: 0, leads: 0 }
}

export type Resender = ReturnType<typeof createResender>

interface ResendDependencies {
  sql: Sql
  wakeLead: (leadId: number) => Promise<unknown>
  startEndpoint: (partnerId: number) => Promise<void>
}

/**
 * Requests that webhooks are sent again: marks them in the record, and signals the workflow that sends them. Calls reject if
 * Temporal is away; settled webhooks are sent nevertheless, once the comparison has started the workflow.
 */
export function createResender({ sql, wakeLead, startEndpoint }: ResendDependencies) {
  // concurrent requests of a partner share one signal
  const lookSoon = sharingRuns(startEndpoint)
  return {
    /** An open one is sent by its lead's workflow, in order; a settled one by its endpoint's. */
    resend: async (webhook: Webhook): Promise<'accepted' | 'too_many'> => {
      const state = await requestAttempt(sql, webhook.event_id)
      if (state === undefined) return 'too_many'
      if (state !== 'pending') await lookSoon(webhook.partner_id)
      // one that waits for an earlier webhook follows it by itself
      else if (webhook.waits_for === null) await wakeLead(webhook.lead_id)
      return 'accepted'
    },

    /** Sends again what a filter finds. */
    replay: async (filter: ReplayFilter): Promise<void> => {
      await raw`update deliveries set asked = 'replay'
        where asked is null and event_id in (select d.event_id ${matching(filter)})`.execute(sql)
      await startEndpoint(filter.partnerId)
    },
  }
}
