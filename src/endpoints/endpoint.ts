import { defineEntity, p } from '@mikro-orm/core'
import { type Expression, sql as raw } from 'kysely'
import { instant, oneOf } from '../database/columns.ts'
import type { Sql } from '../database/sql.ts'
import { Partner } from '../partners/partner.ts'
import type { Certification } from './certification-checks.ts'
import {
  type EndpointIncident,
  endpointIncidents,
  type EndpointPauser,
  endpointPausers,
  type EndpointState,
  endpointStates,
  type EndpointTransition,
  endpointTransitions,
} from './endpoint-state.ts'
import { hasNotices, incidentAfterResume } from './notices.ts'

/** Where a partner's webhooks go: made with the partner, without a URL until staff set one. */
export const Endpoint = defineEntity({
  name: 'Endpoint',
  tableName: 'endpoints',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    partner: () => p.oneToOne(Partner).owner().deleteRule('restrict'),
    url: p.text().nullable(),
    state: p.text().$type<EndpointState>(),
    reason: p.text().nullable(),
    pausedBy: p.text().$type<EndpointPauser>().nullable(),
    /** Rises with every change of the URL, pause and resume: what an older one answered says nothing of this one. */
    revision: p.integer().default(1),
    /** The revision that set the current URL. */
    urlRevision: p.integer().default(1),
    /** Rises with every new URL, resume and accepted probe: failures and dates of deliveries count in their round alone. */
    round: p.integer().default(1),
    /** The latest round for which all leads with open webhooks were woken. */
    wokenRound: p.integer().default(1),
    /** Since when it is in this state. */
    since: instant().defaultRaw('now()'),
    /** The first failure after the last success; null while it works. */
    failingSince: instant().nullable(),
    /** The first success after it failed, was set or was resumed. */
    recoveredAt: instant().nullable(),
    /** Its open incident, if there is one. */
    incident: p.text().$type<EndpointIncident>().nullable(),
    /** When its workflow probes it next; null unless the service paused it. */
    nextProbeAt: instant().nullable(),
    /** The number of the URL that its partner is to certify: the id of its secret, which signs nothing yet. */
    candidate: p.integer().nullable(),
    candidateUrl: p.text().nullable(),
    candidateAt: instant().nullable(),
    /** The latest one: of the candidate, or, once it has passed, of `url`. */
    certification: p.json<Certification>().nullable(),
    /** Where webhooks went before, and the secret that was current then: staff go back to them with one command. */
    previousUrl: p.text().nullable(),
    previousSecret: p.integer().nullable(),
    previousUntil: instant().nullable(),
  },
  checks: [
    { name: 'endpoints_state_check', expression: oneOf('state', endpointStates) },
    { name: 'endpoints_paused_by_check', expression: oneOf('paused_by', endpointPausers) },
    { name: 'endpoints_paused_check', expression: "(state = 'paused') = (paused_by is not null)" },
    { name: 'endpoints_incident_check', expression: oneOf('incident', endpointIncidents) },
    { name: 'endpoints_url_check', expression: "url is not null or state = 'paused'" },
  ],
})

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

/**
 * The next leads to wake, in the order of their ids, for the round that the endpoint is in: those with open webhooks, and those
 * of which webhooks were left out as it began.
 *
 * @param progress up to which lead those of a round were woken.
 */
export async function nextToWake(
  sql: Sql,
  endpointId: number,
  progress: { round: number; leadId: number },
  limit: number,
): Promise<{ round: number; leadIds: number[] }> {
  const endpoint = await sql
    .selectFrom('endpoints')
    .select(['partner_id', 'round', 'since'])
    .where('id', '=', endpointId)
    .executeTakeFirstOrThrow()
  const { partner_id: partnerId, round, since } = endpoint
  const leads = await sql
    .selectFrom('deliveries')
    .select('lead_id')
    .distinct()
    .where('partner_id', '=', partnerId)
    .where('lead_id', '>', progress.round === round ? progress.leadId : 0)
    .where((eb) =>
      eb.or([
        eb('state', '=', 'pending'),
        eb.and([eb('state', '=', 'canceled'), eb('settled_at', '>=', since)]),
      ]),
    )
    .orderBy('lead_id')
    .limit(limit)
    .execute()
  return { round, leadIds: leads.map((row) => row.lead_id) }
}

/** All leads are woken for that round. */
export async function endWaking(sql: Sql, endpointId: number, round: number): Promise<void> {
  await sql.updateTable('endpoints').set({ woken_round: round }).where('id', '=', endpointId).execute()
}
