import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import type { Sql } from '../database/sql.ts'
import type { MailKind } from './endpoint-state.ts'
import { openDeliveryCount } from './open-deliveries.ts'

/**
 * A mail that is owed to a partner, or to staff about it: written in the transaction of the fact that it reports, and sent
 * afterwards. Partner and staff get separate mails, so that a refused address stops only its own.
 */
export const Notice = defineEntity({
  name: 'Notice',
  tableName: 'notices',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    partnerId: p.integer(),
    kind: p.text().$type<MailKind>(),
    recipient: p.text().$type<'partner' | 'staff'>().default('partner'),
    owedAt: instant().defaultRaw('clock_timestamp()'),
    /** The event whose webhook fails. */
    eventId: p.text().nullable(),
    sentAt: instant().nullable(),
  },
})

/** A failed attempt that is news to operators, for the log and a metric. */
export interface EndpointNotice {
  kind: 'failing' | 'given_up' | 'paused'
  partnerId: number
  /** Why, in a word or two: never the URL, nor what the endpoint answered. */
  reason: string
  eventId: string
}

/** Whether a row of `notices` is to be sent. After a week, it is dropped. */
const isUnsent = raw<boolean>`(sent_at is null and owed_at > now() - interval '7 days')`

/** Whether a row of `endpoints` has a notice to send. */
export const hasNotices = raw<boolean>`exists (
  select from notices where notices.partner_id = endpoints.partner_id and ${isUnsent}
)`

/** Partner and staff, as rows with a `recipient`. */
export const bothRecipients = raw`unnest(array['partner', 'staff']) as recipient`

/** The limit of mails about pauses, because a key can pause and resume any number of times. */
const MOST_AN_HOUR = 5

/**
 * Owes partner and staff a notice, unless one of its kind still waits: a mail describes the endpoint as it is when it is sent.
 * `failing` and `paused` begin an incident, in which `failing` is owed once. A success ends it, and owes `recovered`. The
 * caller's transaction has the endpoint locked.
 */
export async function oweNotice(
  trx: Sql,
  partnerId: number,
  kind: MailKind,
  eventId: string | null = null,
): Promise<void> {
  await raw`
    with owed as (
      insert into notices (partner_id, kind, event_id, recipient)
      select partner_id, ${kind}, ${eventId}, recipient from endpoints e cross join ${bothRecipients}
      where partner_id = ${partnerId} and not (incident and ${kind} = 'failing')
        and not exists (select from notices n where n.partner_id = e.partner_id and kind = ${kind} and ${isUnsent})
        and (${kind} <> 'paused' or ${MOST_AN_HOUR} > (
          select count(*) from notices n where n.partner_id = e.partner_id and n.recipient = 'partner'
            and kind = 'paused' and owed_at > now() - interval '1 hour'
        ))
      returning partner_id, kind
    )
    update endpoints set incident = true from owed
    where endpoints.partner_id = owed.partner_id and owed.kind in ('failing', 'paused')`.execute(trx)
}

export async function unsentNotices(sql: Sql, partnerId: number) {
  return sql
    .selectFrom('notices')
    .select(['id', 'partner_id as partnerId', 'kind', 'recipient'])
    .select(['event_id as eventId', 'owed_at as owedAt'])
    .where('partner_id', '=', partnerId)
    .where(isUnsent)
    .orderBy('id')
    .execute()
}

export type UnsentNotice = Awaited<ReturnType<typeof unsentNotices>>[number]

export async function markSent(sql: Sql, id: number): Promise<void> {
  const sentAt = raw<Date>`clock_timestamp()`
  await sql.updateTable('notices').set({ sent_at: sentAt }).where('id', '=', id).execute()
}

/** The facts for a notice: recipient, endpoint, and the latest attempt at its event. */
export async function noticeFacts(sql: Sql, { partnerId, eventId }: UnsentNotice) {
  const facts = await sql
    .selectFrom('partners')
    .innerJoin('endpoints', 'endpoints.partner_id', 'partners.id')
    .select(['name', 'contact_email', 'url', 'state', 'reason', 'since', 'failing_since', 'next_probe_at'])
    .select(openDeliveryCount.as('open'))
    .where('partners.id', '=', partnerId)
    .executeTakeFirstOrThrow()
  const attempt = await sql
    .selectFrom('attempts')
    .innerJoin('lead_events', 'lead_events.id', 'attempts.event_id')
    .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
    .select(['attempts.event_id', 'event_name', 'lead_events.lead_id', 'number', 'started_at'])
    .select(['error_code', 'hint'])
    .select(raw<Date | null>`case when state = 'pending' then next_attempt_at end`.as('next_attempt_at'))
    .where('attempts.event_id', '=', eventId)
    .where('finished_at', 'is not', null)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return { ...facts, attempt }
}
