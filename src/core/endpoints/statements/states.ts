import { type Expression, sql as raw } from 'kysely'
import { type EndpointTransition, endpointTransitions } from '../decisions/endpoint.ts'
import { incidentAfterResume } from './incidents.ts'
import { hasNotices } from './notices.ts'
import type { Sql } from '../../database/sql.ts'

/** A change of the URL, a pause or a resume begins a new revision. */
export const nextRevision = raw<number>`endpoints.revision + 1`

const nextRound = raw<number>`endpoints.round + 1`

/** What a new URL writes, beside the new revision. */
export const columnsOfUrl = (url: string) => ({ url, url_revision: nextRevision, round: nextRound })

/** What a transition writes: the endpoint's state, and a new revision. A pause's probes are planned by its workflow. */
export function columnsOf(transition: EndpointTransition) {
  const { reason, pausedBy } = endpointTransitions[transition]
  const isActive = pausedBy === null
  return {
    state: isActive ? ('active' as const) : ('paused' as const),
    reason,
    paused_by: pausedBy,
    revision: nextRevision,
    since: raw<Date>`clock_timestamp()`,
    next_probe_at: null,
    ...(isActive && { round: nextRound, failing_since: null, incident: incidentAfterResume }),
  }
}

/** Pauses or resumes a partner's endpoint. Returns the endpoint's id; `undefined` when it has no URL. */
export async function pauseOrResume(
  sql: Sql,
  partnerId: number,
  transition: Extract<EndpointTransition, `${'paused' | 'resumed'}By${string}`>,
): Promise<number | undefined> {
  const endpoint = await sql
    .updateTable('endpoints')
    .set(columnsOf(transition))
    .where('partner_id', '=', partnerId)
    .where('url', 'is not', null)
    .returning('id')
    .executeTakeFirst()
  return endpoint?.id
}

/** Resumes an endpoint that accepted a probe, unless it was changed, paused or resumed meanwhile. */
export async function resumeAfterProbe(trx: Sql, partnerId: number, attemptId: string): Promise<void> {
  await trx
    .updateTable('endpoints')
    .set(columnsOf('probeTaken'))
    .where('partner_id', '=', partnerId)
    .where('paused_by', '=', 'service')
    .where(isOfRevision(attemptId))
    .execute()
}

/** Whether the attempt called the endpoint's current revision. */
export function isOfRevision(attemptId: string | Expression<string>) {
  return raw<boolean>`endpoints.revision = (select endpoint_revision from attempts where id = ${attemptId})`
}

/** An endpoint whose workflow has something to do. */
interface AtWork {
  id: number
  /** Whether its workflow may not know its state yet, and may wait for something else for an hour or more. */
  isUnseen: boolean
}

/** Endpoints that are paused, or have leads to wake or emails to send. */
export async function endpointsAtWork(sql: Sql): Promise<AtWork[]> {
  // a workflow that knows of a pause by the service has planned a probe
  const { rows } = await raw<AtWork>`
    select e.id,
      ${isWaking} or (e.paused_by is not distinct from 'service' and e.next_probe_at is null) as "isUnseen"
    from endpoints e
    where e.url is not null and (e.state = 'paused' or ${isWaking} or ${hasNotices})
  `.execute(sql)
  return rows
}

/** Whether endpoint row `e` takes webhooks again, and not all leads were woken. */
const isWaking = raw<boolean>`(e.state = 'active' and e.round <> e.woken_round)`
