import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import type { Sql } from '../database/sql.ts'
import { FAILING_AFTER } from '../deliveries/delivery-states.ts'
import { Partner } from '../partners/partner.ts'
import type { MailKind } from './endpoint-state.ts'
import { openDeliveries } from './endpoint.ts'

/**
 * A mail to partner and staff about the partner's endpoint: written in the transaction of the fact that it reports, and
 * sent afterwards.
 */
export const Notice = defineEntity({
  name: 'Notice',
  tableName: 'notices',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    partner: () => p.manyToOne(Partner).deleteRule('restrict').index(),
    kind: p.text().$type<MailKind>(),
    owedAt: instant().defaultRaw('clock_timestamp()'),
    /** The event whose webhook fails. */
    eventId: p.text().nullable(),
    sentAt: instant().nullable(),
  },
})

/** A failed attempt that is news to operators, for the log and a metric. */
export interface EndpointNotice {
  kind: 'failing' | 'given_up' | 'paused'
  endpointId: number
  partnerId: number
  /** Why, in a word or two: never the URL, nor what the endpoint answered. */
  reason: string
  eventId: string
}

/** Whether a row of `notices` is to be sent. After a week, it is dropped. */
const isUnsent = raw<boolean>`(sent_at is null and owed_at > now() - interval '7 days')`

/** Owes a partner a notice, unless one of its kind waits. The caller's transaction has the endpoint locked. */
export async function oweNotice(
  trx: Sql,
  partnerId: number,
  kind: MailKind,
  eventId: string | null = null,
): Promise<void> {
  await raw`
    insert into notices (partner_id, kind, event_id)
    select ${partnerId}, ${kind}, ${eventId}
    where not exists (select from notices where partner_id = ${partnerId} and kind = ${kind} and ${isUnsent})
  `.execute(trx)
}

/** Whether the incident of a row of `endpoints` is over: a success ends it, as an accepted probe does, once no open webhook fails any more. */
const hasRecovered = raw<boolean>`(
  state = 'active' and failing_since is null and (recovered_at > since or reason = 'probe_succeeded') and not exists (
    select from deliveries d where d.partner_id = endpoints.partner_id and d.state = 'pending'
      and d.round = endpoints.round and d.failures >= ${FAILING_AFTER}
  )
)`

/** Whether partner and staff are still to be told of the state of a row of `endpoints`. */
const isNews = raw<boolean>`(url is not null and (
  state = 'paused' and incident is distinct from 'paused' or incident is not null and ${hasRecovered}
))`

/** Mails about pauses: a key can pause and resume as often as it likes. */
const MOST_AN_HOUR = 5

/** Owes the notice for an endpoint's state, if that is news. A failed attempt owes the one that it fails. */
export async function oweForState(sql: Sql, endpointId: number): Promise<void> {
  await raw`
    with told as (
      update endpoints set incident = case state when 'paused' then 'paused' end
      where id = ${endpointId} and ${isNews} returning partner_id, state
    )
    insert into notices (partner_id, kind)
    select partner_id, case state when 'paused' then 'paused' else 'recovered' end from told
    where state <> 'paused' or ${MOST_AN_HOUR} > (
      select count(*) from notices n
      where n.partner_id = told.partner_id and n.kind = 'paused' and n.owed_at > now() - interval '1 hour'
    )
  `.execute(sql)
}

/** Whether a row of `endpoints` has a notice to owe or to send. */
export const hasNotices = raw<boolean>`(${isNews} or exists (
  select from notices where notices.partner_id = endpoints.partner_id and ${isUnsent}
))`

export async function unsentNotices(sql: Sql, endpointId: number) {
  return sql
    .selectFrom('notices')
    .innerJoin('endpoints', 'endpoints.partner_id', 'notices.partner_id')
    .select(['notices.id', 'notices.partner_id as partnerId', 'kind', 'event_id as eventId'])
    .where('endpoints.id', '=', endpointId)
    .where(isUnsent)
    .orderBy('notices.id')
    .execute()
}

export type UnsentNotice = Awaited<ReturnType<typeof unsentNotices>>[number]

export async function markSent(sql: Sql, { id }: UnsentNotice): Promise<void> {
  const sentAt = raw<Date>`clock_timestamp()`
  await sql.updateTable('notices').set({ sent_at: sentAt }).where('id', '=', id).execute()
}

/** The facts for a notice: recipient, endpoint, and the latest attempt at its event. */
export async function noticeFacts(sql: Sql, { partnerId, eventId }: UnsentNotice) {
  const facts = await sql
    .selectFrom('partners')
    .innerJoin('endpoints', 'endpoints.partner_id', 'partners.id')
    .select(['name', 'contact_email', 'url', 'state', 'reason', 'since', 'failing_since', 'next_probe_at'])
    .select(openDeliveries.as('open'))
    .where('partners.id', '=', partnerId)
    .executeTakeFirstOrThrow()
  const attempt = await sql
    .selectFrom('attempts')
    .innerJoin('lead_events', 'lead_events.id', 'event_id')
    .select([
      'event_id',
      'event_name',
      'lead_id',
      'number',
      'started_at',
      'error_code',
      'hint',
      'next_attempt_at',
    ])
    .where('event_id', '=', eventId)
    .where('finished_at', 'is not', null)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return { ...facts, attempt }
}
