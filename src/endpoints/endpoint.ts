import { defineEntity, p } from '@mikro-orm/core'
import { type Expression, sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import type { Sql } from '../database/sql.ts'
import type { Certification } from './certification-checks.ts'
import {
  type EndpointPauser,
  type EndpointState,
  type EndpointTransition,
  endpointTransitions,
} from './endpoint-state.ts'

/** Where a partner's webhooks go. It is added with its partner, without a URL. */
export const Endpoint = defineEntity({
  name: 'Endpoint',
  tableName: 'endpoints',
  properties: {
    partnerId: p.integer().primary().autoincrement(false),
    url: p.text().nullable(),
    state: p.text().$type<EndpointState>(),
    reason: p.text().nullable(),
    pausedBy: p.text().$type<EndpointPauser>().nullable(),
    /**
     * Rises with each new URL, pause, resume and accepted probe. The outcome of an attempt, and a delivery's failures and
     * date, count in their own round only.
     */
    round: p.integer().default(1),
    /** The round that began with the current URL. */
    urlRound: p.integer().default(1),
    /** The latest round for which all leads with open webhooks were woken. */
    wokenRound: p.integer().default(1),
    /** Since when it is in this state. */
    since: instant().defaultRaw('now()'),
    /** The first failure after the last success; null while it works. */
    failingSince: instant().nullable(),
    /** Partner and staff were told that it fails or is paused, and not yet that it works again. */
    incident: p.boolean().default(false),
    /** When its workflow probes it next; null unless the service paused it, and while it has no URL. */
    nextProbeAt: instant().nullable(),
    /** The number of the URL to certify: the id of its secret, which signs nothing yet. */
    candidate: p.integer().nullable(),
    candidateUrl: p.text().nullable(),
    candidateAt: instant().nullable(),
    /** The latest certification: of the candidate, or, once it has passed, of `url`. */
    certification: p.json<Certification>().nullable(),
    /** Staff can go back to the previous URL and secret until `previousUntil`. */
    previousUrl: p.text().nullable(),
    previousSecret: p.integer().nullable(),
    previousUntil: instant().nullable(),
  },
})

/** By name: a prepared `*` fails once a migration has added a column. */
const columns = [
  ...(['partner_id', 'url', 'state', 'paused_by', 'round', 'woken_round', 'candidate'] as const),
  ...(['candidate_url', 'certification', 'previous_url', 'previous_secret', 'previous_until'] as const),
]

const endpointOf = (sql: Sql, partnerId: number) =>
  sql.selectFrom('endpoints').select(columns).where('partner_id', '=', partnerId)

export const findEndpoint = async (sql: Sql, partnerId: number) =>
  endpointOf(sql, partnerId).executeTakeFirstOrThrow()

/** A partner's endpoint, locked until the caller's transaction ends. */
export const lockEndpoint = async (trx: Sql, partnerId: number) =>
  endpointOf(trx, partnerId).forNoKeyUpdate().executeTakeFirstOrThrow()

export type LockedEndpoint = Awaited<ReturnType<typeof lockEndpoint>>

export const nextRound = raw<number>`endpoints.round + 1`

/** What a transition writes. */
export function columnsOf(reason: EndpointTransition) {
  const { pausedBy } = endpointTransitions[reason]
  return {
    state: pausedBy === null ? ('active' as const) : ('paused' as const),
    reason,
    paused_by: pausedBy,
    round: nextRound,
    since: raw<Date>`clock_timestamp()`,
    next_probe_at: pausedBy === 'service' ? raw<Date>`clock_timestamp() + interval '1 hour'` : null,
    ...(pausedBy === null && { failing_since: null }),
  }
}

/** Resumes an endpoint that accepted a probe, unless it was changed, paused or resumed meanwhile. */
export async function resumeAfterProbe(trx: Sql, partnerId: number, attemptId: string): Promise<void> {
  await trx
    .updateTable('endpoints')
    .set(columnsOf('probe_succeeded'))
    .where('partner_id', '=', partnerId)
    .where('paused_by', '=', 'service')
    .where(isOfRound(attemptId))
    .execute()
}

/** Whether the attempt called the endpoint in its current round. */
export function isOfRound(attemptId: string | Expression<string>) {
  return raw<boolean>`endpoints.round = (select round from attempts where id = ${attemptId})`
}
