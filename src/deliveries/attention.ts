import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { recordedAt } from '../leads/new-lead.ts'
import { command, firstOf, type InboxSource, MOST_COUNTED } from '../staff/attention.ts'
import { AFTER_ALL } from './list-deliveries.ts'

interface Faulty {
  partner_id: number
  partner_name: string
  fault: string
  /** When the first of them was due. */
  since: Date
  webhooks: number
  leads: number
}

/** Open webhooks whose attempt could not begin, by partner and fault. */
async function faultsByPartner(sql: Sql): Promise<Faulty[]> {
  const { rows } = await raw<Faulty>`
    select partners.id as partner_id, partners.name as partner_name, fault, min(next_attempt_at) as since,
      count(*)::int as webhooks, count(distinct lead_id)::int as leads
    from deliveries join partners on partners.id = partner_id
    where deliveries.state = 'pending' and fault is not null
    group by partners.id, fault order by count(*) desc, partners.id`.execute(sql)
  return rows
}

/** The smallest id that an event or an attempt of so many days ago can have: a UUID of version 7 begins with its time. */
export const idDaysAgo = (prefix: 'evt_' | 'att_', days: number) => raw<string>`(${prefix} || overlay(
  lpad(to_hex((extract(epoch from now() - ${days} * interval '1 day') * 1000)::bigint), 12, '0') placing '-' from 9 for 0))`

interface GivenUp {
  partner_id: number
  partner_name: string
  webhooks: number
  leads: number
  /** The event of the first. */
  event_id: string
}

/**
 * Webhooks of the last `days` that were given up and can be sent again, by partner; `most` of each are counted.
 *
 * Compares whole rows, as pages of deliveries do.
 */
export async function givenUpByPartner(
  sql: Sql,
  { days, most }: { days: number; most: number },
): Promise<GivenUp[]> {
  const { rows } = await raw<GivenUp>`
    select partners.id as partner_id, partners.name as partner_name, count(*)::int as webhooks,
      count(distinct lead_id)::int as leads, min(event_id) as event_id
    from partners cross join lateral (
      select d.event_id, d.lead_id from deliveries d
      where (d.state, d.partner_id, d.event_id) > ('given_up', partners.id, ${idDaysAgo('evt_', days)})
        and (d.state, d.partner_id, d.event_id) < ('given_up', partners.id, ${AFTER_ALL})
      order by d.state, d.partner_id, d.event_id limit ${most}
    ) as given_up join leads on leads.id = lead_id and leads.erased_at is null
    group by partners.id order by count(*) desc, partners.id`.execute(sql)
  return rows
}

/** What nobody sent again by then is history. */
const SHOWN_DAYS = 30

/** Webhooks that were given up. */
export const givenUpInbox: InboxSource = {
  kind: 'webhooks given up',
  find: async ({ sql }, limit) => {
    const partners = await givenUpByPartner(sql, { days: SHOWN_DAYS, most: MOST_COUNTED })
    const items = partners.map(
      ({ partner_id: partner, partner_name: name, webhooks, leads, event_id: event }) => ({
        what: `Webhooks of partner ${partner}, ${name}, were given up, ${event} first: its endpoint took others, and not these. Once it takes them, send them again.`,
        since: recordedAt(event),
        touches: { webhooks, leads },
        mend: command(`delivery replay --partner ${partner}`),
      }),
    )
    return firstOf(items, limit)
  },
}

/** Webhooks that we cannot sign. */
export const faultsInbox: InboxSource = {
  kind: 'webhooks not sent',
  find: async ({ sql }, limit) => {
    const items = (await faultsByPartner(sql)).map(
      ({ partner_id: partner, partner_name: name, fault, since, webhooks, leads }) => ({
        what: `Webhooks of partner ${partner}, ${name}, cannot be sent: ${fault}.`,
        since,
        touches: { webhooks, leads },
        mend: `as it says; if the secret is lost, ${command(`endpoint rotate-secret ${partner} --overlap 0`)}`,
      }),
    )
    return firstOf(items, limit)
  },
}
