import { sql as raw } from 'kysely'
import { FAILING_AFTER } from '../../domain/delivery.ts'
import type { NoticeKind } from '../../domain/endpoint.ts'
import type { Sql } from '../orm.ts'

/** Something about an endpoint that operators hear of each time, whether or not a mail is due. */
export interface EndpointNotice {
  kind: NoticeKind
  endpointId: number
  partnerId: number
  /** Why, in a word or two: never what the endpoint sent, nor its URL. */
  reason: string
  /** The event whose delivery it was, where it was one. */
  eventId?: string
}

/** An endpoint that gets another chance is in trouble until it works, and may be paused anew. */
export const troubleGoesOn = raw<'failing' | null>`case when trouble is not null then 'failing' end`

/**
 * Endpoints that somebody paused or that recovered since this was last asked: each turn is answered once.
 * A pause by an attempt is known where it happens, and not answered here; an endpoint that somebody has locked has its
 * turn the next time.
 */
export async function endpointTurns(sql: Sql): Promise<EndpointNotice[]> {
  const { rows } = await raw<{ id: number; partner_id: number; state: string; reason: string | null }>`
    with turned as (
      select e.id from endpoints e
      where e.url is not null and (
        (e.state = 'paused' and e.trouble is distinct from 'paused')
        or (e.state = 'active' and e.trouble is not null and e.failing_since is null and not exists (
          select from deliveries
          where partner_id = e.partner_id and state = 'pending' and failures >= ${FAILING_AFTER}
        ))
      )
      for no key update skip locked
    )
    update endpoints e set trouble = case e.state when 'paused' then 'paused' end
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
