import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import type { Sql } from '../database/sql.ts'
import { FAILING_AFTER } from '../deliveries/delivery-states.ts'
import { countedOf } from '../deliveries/delivery.ts'
import { Partner } from '../partners/partner.ts'
import type { MailKind, NoticeKind } from './endpoint-state.ts'

/** A mail about a partner's deliveries. */
export const Notice = defineEntity({
  name: 'Notice',
  tableName: 'notices',
  properties: {
    partner: () => p.manyToOne(Partner).primary().deleteRule('restrict'),
    kind: p.text().primary(),
    owedAt: instant().primary(),
    eventId: p.text().nullable(),
    sentAt: instant().nullable(),
  },
})

/** A log line and a metric about an endpoint, whether or not an email is due. */
export interface EndpointNotice {
  kind: NoticeKind
  endpointId: number
  partnerId: number
  /** Why, in a word or two: never what the endpoint sent, nor its URL. */
  reason: string
  /** The event whose delivery it was, where it was one. */
  eventId?: string
}

/** Whether the incident of endpoint row `e` is over: for log lines, metrics and emails. Only a success ends it. */
const hasRecovered = raw<boolean>`(
  e.state = 'active' and e.failing_since is null and e.recovered_at > e.since and not exists (
    select from deliveries d
    where d.partner_id = e.partner_id and d.state = 'pending' and d.round = e.round and d.failures >= ${FAILING_AFTER}
  )
)`

/** A resume does not end an incident. */
export const incidentAfterResume = raw<'failing' | null>`case when incident is not null then 'failing' end`

/**
 * Opens incidents for endpoints that a person paused, closes those of endpoints that recovered, and returns both, each
 * once. Attempts open all other incidents. Skips endpoints whose row is locked until the next call.
 */
export async function turnIncidents(sql: Sql): Promise<EndpointNotice[]> {
  const { rows } = await raw<{ id: number; partner_id: number; state: string; reason: string | null }>`
    with turned as (
      select e.id from endpoints e
      where e.url is not null and (
        (e.state = 'paused' and e.incident is distinct from 'paused')
        or (e.incident is not null and ${hasRecovered})
      )
      for no key update skip locked
    )
    update endpoints e set incident = case e.state when 'paused' then 'paused' end
    from turned where e.id = turned.id
    returning e.id, e.partner_id, e.state, e.reason
  `.execute(sql)
  return rows.map(({ id, partner_id, state, reason }) => ({
    kind: state === 'paused' ? 'paused' : 'recovered',
    endpointId: id,
    partnerId: partner_id,
    reason: reason ?? 'no webhook fails any more',
  }))
}

/** After this, an unsent notice is dropped. */
const STALE = raw`interval '7 days'`

/**
 * An email to partner and staff, written in the transaction of the fact it reports and sent afterwards: a transactional
 * outbox.
 */
export interface UnsentNotice {
  kind: MailKind
  owedAt: Date
  eventId: string | null
}

/** The most mails of a kind an hour; a recovery belongs to a mail about a failure, and nobody misses a change. */
export const MOST_AN_HOUR: Record<MailKind, number | null> = {
  failing: 1,
  given_up: 1,
  // each has a reason of its own, and must not hide another
  paused: 5,
  recovered: null,
  url_changed: null,
  secret_changed: null,
}

/**
 * Owes a partner a notice, unless one of its kind waits, or as many as may be were sent within the hour. Once the
 * endpoint works again, a failure is news. The caller's transaction has the endpoint locked.
 */
export async function oweNotice(
  trx: Sql,
  partnerId: number,
  kind: MailKind,
  eventId: string | null = null,
): Promise<void> {
  await raw`
    insert into notices (partner_id, kind, owed_at, event_id)
    -- to the millisecond, as it is read back
    select ${partnerId}, ${kind}, date_trunc('milliseconds', clock_timestamp()), ${eventId}
    where not exists (
      select from notices
      where partner_id = ${partnerId} and kind = ${kind} and sent_at is null and owed_at > now() - ${STALE}
    ) and coalesce(${MOST_AN_HOUR[kind]}::int > (
      select count(*) from notices sent
      where partner_id = ${partnerId} and kind = ${kind} and sent_at > now() - interval '1 hour' and not (
        ${kind} = 'failing' and exists (
          select from notices
          where partner_id = ${partnerId} and kind = 'recovered' and owed_at > sent.sent_at
        )
      )
    ), true)
    on conflict do nothing
  `.execute(trx)
}

export async function unsentNotices(sql: Sql, partnerId: number): Promise<UnsentNotice[]> {
  const rows = await sql
    .selectFrom('notices')
    .select(['kind', 'owed_at', 'event_id'])
    .where('partner_id', '=', partnerId)
    .where('sent_at', 'is', null)
    .where('owed_at', '>', raw<Date>`now() - ${STALE}`)
    .orderBy('owed_at')
    .execute()
  return rows.map(({ kind, owed_at, event_id }) => ({
    kind: kind as MailKind,
    owedAt: owed_at,
    eventId: event_id,
  }))
}

export async function markSent(sql: Sql, partnerId: number, { kind, owedAt }: UnsentNotice): Promise<void> {
  await sql
    .updateTable('notices')
    .set({ sent_at: raw<Date>`clock_timestamp()` })
    .where('partner_id', '=', partnerId)
    .where('kind', '=', kind)
    .where('owed_at', '=', owedAt)
    .execute()
}

/** Owes it no more: it is no longer true, and nobody was told. */
export async function dropNotice(sql: Sql, partnerId: number, { kind, owedAt }: UnsentNotice): Promise<void> {
  await sql
    .deleteFrom('notices')
    .where('partner_id', '=', partnerId)
    .where('kind', '=', kind)
    .where('owed_at', '=', owedAt)
    .where('sent_at', 'is', null)
    .execute()
}

/** The email owed about endpoint row `e`: that it is paused, or that it recovered after an email about a failure. */
const told = (kinds: string) =>
  raw`(select max(sent_at) from notices where partner_id = e.partner_id and kind in (${raw.raw(kinds)}))`
const owedKind = raw<'paused' | 'recovered' | null>`case
  when e.url is null then null
  when e.state = 'paused' and ${told(`'paused'`)} > e.since then null
  when e.state = 'paused' then 'paused'
  when ${told(`'failing', 'paused'`)} > coalesce(${told(`'recovered'`)}, '-infinity') and ${hasRecovered}
    then 'recovered'
end`

/** Owes the email for the endpoint's state. Returns what is owed, even if the hourly limit delays it. */
export async function oweForState(sql: Sql, endpointId: number): Promise<'paused' | 'recovered' | null> {
  return sql.transaction().execute(async (trx) => {
    const { rows } = await raw<{ partner_id: number; owed: 'paused' | 'recovered' | null }>`
      select e.partner_id, ${owedKind} as owed from endpoints e where e.id = ${endpointId} for no key update
    `.execute(trx)
    const [endpoint] = rows
    if (!endpoint?.owed) return null
    await oweNotice(trx, endpoint.partner_id, endpoint.owed)
    return endpoint.owed
  })
}

/** Whether endpoint row `e` has an email to be sent or owed: its workflow does both. */
export const hasNotices = raw<boolean>`(${owedKind} is not null or exists (
  select from notices where partner_id = e.partner_id and sent_at is null and owed_at > now() - ${STALE}
))`

/** The facts for a notice: recipient, endpoint, a sample of what fails, and when its event is tried next. */
export async function noticeFacts(sql: Sql, partnerId: number, eventId: string | null) {
  const facts = await sql
    .selectFrom('partners')
    .innerJoin('endpoints', 'endpoints.partner_id', 'partners.id')
    .select([
      'partners.name',
      'partners.contact_email',
      'partners.self_service',
      'endpoints.url',
      'endpoints.state',
    ])
    .select(['endpoints.reason', 'endpoints.since', 'endpoints.failing_since', 'endpoints.next_probe_at'])
    .select((eb) =>
      eb
        .selectFrom('deliveries')
        .select(raw<number>`count(*)::int`.as('open'))
        .where('partner_id', '=', partnerId)
        .where('state', '=', 'pending')
        .as('open'),
    )
    .select((eb) =>
      eb
        .selectFrom('deliveries')
        .select(countedOf('deliveries', 'endpoints').nextAttemptAt.as('at'))
        .where('event_id', '=', eventId)
        .where('deliveries.state', '=', 'pending')
        .as('next_attempt_at'),
    )
    .where('partners.id', '=', partnerId)
    .executeTakeFirstOrThrow()
  return { ...facts, sample: await sampleOf(sql, partnerId, eventId) }
}

/** The latest failed attempt: of the notice's event, or else of any open delivery. */
async function sampleOf(sql: Sql, partnerId: number, eventId: string | null) {
  return sql
    .selectFrom('deliveries')
    .innerJoin('lead_events', 'lead_events.id', 'deliveries.event_id')
    .innerJoin('attempts', 'attempts.event_id', 'deliveries.event_id')
    .select(['deliveries.event_id', 'deliveries.lead_id', 'lead_events.event_name'])
    .select(['attempts.number', 'attempts.started_at', 'attempts.status', 'attempts.error_code'])
    .select('attempts.hint')
    .select((eb) =>
      eb
        .selectFrom('attempts as earlier')
        .select(raw<Date>`min(earlier.started_at)`.as('first_at'))
        .whereRef('earlier.event_id', '=', 'deliveries.event_id')
        .as('first_at'),
    )
    .where('deliveries.partner_id', '=', partnerId)
    .where('attempts.error_code', 'is not', null)
    .$if(eventId !== null, (query) => query.where('deliveries.event_id', '=', eventId ?? ''))
    .$if(eventId === null, (query) => query.where('deliveries.state', '=', 'pending'))
    .orderBy('attempts.started_at', 'desc')
    .limit(1)
    .executeTakeFirst()
}
