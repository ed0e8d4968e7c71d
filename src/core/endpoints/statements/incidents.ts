import { sql as raw } from 'kysely'
import { FAILING_AFTER } from '../../deliveries/decisions/delivery.ts'
import type { NoticeKind } from '../decisions/endpoint.ts'
import type { Sql } from '../../database/sql.ts'

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
export const hasRecovered = raw<boolean>`(
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
