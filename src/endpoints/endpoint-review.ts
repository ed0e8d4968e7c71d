import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import type { EndpointPauser, EndpointState } from './endpoint-state.ts'
import { openDeliveries } from './endpoint.ts'
import { hasNotices, unsentNotices } from './notices.ts'

/** What an endpoint's workflow acts on. */
export interface EndpointReview {
  partnerId: number
  state: EndpointState
  reason: string | null
  pausedBy: EndpointPauser | null
  /** Text, to the microsecond. */
  since: string
  /** It takes webhooks again, and not all leads with open ones were woken. */
  isWaking: boolean
  /** In milliseconds since 1970. */
  nextProbeAt: number | null
  /** Open deliveries. */
  waiting: number
  /** Mails to be sent now. */
  unsent: number
}

/** Whether a row of `endpoints` takes webhooks again, and not all leads were woken. */
const isWaking = raw<boolean>`(state = 'active' and round <> woken_round)`

/** Reads an endpoint; `undefined` if it has no URL. */
export async function reviewEndpoint(sql: Sql, endpointId: number): Promise<EndpointReview | undefined> {
  const { length: unsent } = await unsentNotices(sql, endpointId)
  const row = await sql
    .selectFrom('endpoints')
    .select(['partner_id as partnerId', 'state', 'reason', 'paused_by as pausedBy'])
    .select([raw<string>`since::text`.as('since'), isWaking.as('isWaking'), openDeliveries.as('waiting')])
    .select(raw<number | null>`(extract(epoch from next_probe_at) * 1000)::float8`.as('nextProbeAt'))
    .where('id', '=', endpointId)
    .where('url', 'is not', null)
    .executeTakeFirst()
  return row && { ...row, unsent }
}

/** Writes down when the endpoint is probed next, unless the pause that began at `since` is over. */
export async function setNextProbe(sql: Sql, endpointId: number, since: string, at: Date): Promise<void> {
  await sql
    .updateTable('endpoints')
    .set({ next_probe_at: at })
    .where('id', '=', endpointId)
    .where('paused_by', '=', 'service')
    .where('since', '=', raw<Date>`${since}::timestamptz`)
    .execute()
}

/** The oldest open delivery, the first of its lead, for a probe. */
export async function oldestWaiting(sql: Sql, endpointId: number) {
  return sql
    .selectFrom('deliveries')
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .select(['deliveries.lead_id as leadId', raw<number>`min(sequence)`.as('sequence')])
    .where('endpoints.id', '=', endpointId)
    .where('deliveries.state', '=', 'pending')
    .groupBy('lead_id')
    .orderBy(raw`min(event_id)`)
    .limit(1)
    .executeTakeFirst()
}

/**
 * Endpoints whose workflow has something to do: they are paused, or have leads to wake or mails to send.
 *
 * @returns `isUnseen`: its workflow may not know its state, and wait for something else for an hour or more. One that knows
 *   of a pause by the service has planned a probe.
 */
export async function endpointsAtWork(sql: Sql): Promise<{ id: number; isUnseen: boolean }[]> {
  return sql
    .selectFrom('endpoints')
    .select('id')
    .select(
      raw<boolean>`${isWaking} or (paused_by is not distinct from 'service' and next_probe_at is null)`.as(
        'isUnseen',
      ),
    )
    .where('url', 'is not', null)
    .where(raw<boolean>`(state = 'paused' or ${isWaking} or ${hasNotices})`)
    .execute()
}

/**
 * The next leads to wake, in the order of their ids, for the round that the endpoint is in: those with open webhooks, and
 * those of which webhooks were canceled as it began.
 *
 * @param progress up to which lead those of a round were woken.
 */
export async function nextToWake(
  sql: Sql,
  endpointId: number,
  progress: { round: number; leadId: number },
  limit: number,
): Promise<{ round: number; leadIds: number[] }> {
  const { partner_id, round, since } = await sql
    .selectFrom('endpoints')
    .select(['partner_id', 'round', 'since'])
    .where('id', '=', endpointId)
    .executeTakeFirstOrThrow()
  const leads = await sql
    .selectFrom('deliveries')
    .select('lead_id')
    .distinct()
    .where('partner_id', '=', partner_id)
    .where('lead_id', '>', progress.round === round ? progress.leadId : 0)
    .where(raw<boolean>`(state = 'pending' or state = 'canceled' and settled_at >= ${since})`)
    .orderBy('lead_id')
    .limit(limit)
    .execute()
  return { round, leadIds: leads.map((row) => row.lead_id) }
}

/** All leads are woken for that round. */
export async function endWaking(sql: Sql, endpointId: number, round: number): Promise<void> {
  await sql.updateTable('endpoints').set({ woken_round: round }).where('id', '=', endpointId).execute()
}
