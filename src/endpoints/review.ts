import { sql as raw } from 'kysely'
import type { EndpointPauser, EndpointState } from './endpoint-state.ts'
import { oweForState, unsentNotices } from './notices.ts'
import type { Sql } from '../database/sql.ts'

/** The input of an endpoint's workflow; `since` is text, to the microsecond. */
export interface EndpointReview {
  partnerId: number
  state: EndpointState
  reason: string | null
  pausedBy: EndpointPauser | null
  since: string
  /** It takes webhooks again, and not all leads with open ones were woken. */
  isWaking: boolean
  /** In milliseconds since 1970, as the record has it. */
  nextProbeAt: number | null
  /** Open deliveries. */
  waiting: number
  /** Mails to be sent now. */
  unsent: number
  /** The email that waits to be sent, or that the hourly limit delays. */
  owed: 'paused' | 'recovered' | null
}

/** Reads an endpoint, and owes the email for its state; `undefined` if it has no URL. */
export async function reviewEndpoint(sql: Sql, endpointId: number): Promise<EndpointReview | undefined> {
  const owed = await oweForState(sql, endpointId)
  const row = await sql
    .selectFrom('endpoints')
    .select(['partner_id as partnerId', 'state', 'reason', 'paused_by as pausedBy'])
    .select('next_probe_at')
    .select([raw<string>`since::text`.as('since'), raw<boolean>`round <> woken_round`.as('isWaking')])
    .select((eb) =>
      eb
        .selectFrom('deliveries')
        .select(raw<number>`count(*)::int`.as('waiting'))
        .whereRef('deliveries.partner_id', '=', 'endpoints.partner_id')
        .where('deliveries.state', '=', 'pending')
        .as('waiting'),
    )
    .where('id', '=', endpointId)
    .where('url', 'is not', null)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { length: unsent } = await unsentNotices(sql, row.partnerId)
  const { next_probe_at: nextProbe, ...review } = row
  return { ...review, nextProbeAt: nextProbe?.getTime() ?? null, waiting: row.waiting ?? 0, unsent, owed }
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
export async function oldestWaiting(
  sql: Sql,
  endpointId: number,
): Promise<{ leadId: number; sequence: number } | undefined> {
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

export async function partnerOfEndpoint(sql: Sql, endpointId: number): Promise<number> {
  const row = await sql
    .selectFrom('endpoints')
    .select('partner_id')
    .where('id', '=', endpointId)
    .executeTakeFirstOrThrow()
  return row.partner_id
}
