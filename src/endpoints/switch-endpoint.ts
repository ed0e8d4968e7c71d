import { sql as raw, type UpdateObject } from 'kysely'
import type { Tables } from '../database/orm.ts'
import type { Sql } from '../database/sql.ts'
import { cancelOpen } from '../deliveries/delivery.ts'
import type { SealAt } from '../seal.ts'
import { columnsOf, columnsOfUrl } from './endpoint.ts'
import { oweNotice } from './notices.ts'
import { addSecret, currentSecret, signOnlyWith } from './secrets.ts'

/** What an endpoint's row has while no URL is to be certified. */
const noCandidate = {
  candidate: null,
  candidate_url: null,
  candidate_at: null,
  certification: null,
}

/**
 * Stores a URL that a partner is to certify, with a secret of its own, in the place of an earlier one. The caller's
 * transaction has the endpoint locked.
 *
 * @returns the candidate's number: the id of its secret.
 */
export async function setCandidate(
  trx: Sql,
  endpointId: number,
  { url, secret }: { url: string; secret: SealAt },
): Promise<number> {
  const candidate = await addSecret(trx, endpointId, secret, 'unused')
  await trx
    .updateTable('endpoints')
    .set({ ...noCandidate, candidate, candidate_url: url, candidate_at: raw<Date>`clock_timestamp()` })
    .where('id', '=', endpointId)
    .execute()
  return candidate
}

/** Answers whether there was one. */
export async function dropCandidate(sql: Sql, endpointId: number): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable('endpoints')
    .set(noCandidate)
    .where('id', '=', endpointId)
    .where('candidate', 'is not', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

interface Wanted {
  url: string
  /** The endpoint's first one, if it has none. */
  secret: SealAt
  /** One that it had before signs again, in the place of the current one. */
  secretId?: number | undefined
  fromNow?: boolean
  /** Whether partner and staff get an email about it. */
  isTold?: boolean
}

/**
 * Sets a partner's endpoint to a URL. Held webhooks are then sent in order, or, with `fromNow`, canceled.
 */
export async function setEndpoint(
  sql: Sql,
  partnerId: number,
  { url, secret, secretId, fromNow = false, isTold = false }: Wanted,
): Promise<{ id: number; secretIsNew: boolean; canceled: number } | undefined> {
  return sql.transaction().execute(async (trx) => {
    const canceled = fromNow ? await cancelOpen(trx, partnerId) : 0
    const endpoint = await lockEndpoint(trx, partnerId)
    if (endpoint === undefined) return undefined
    const current = await currentSecret(trx, endpoint.id)
    const known = secretId ?? current
    const target = { url, secretId: known ?? (await addSecret(trx, endpoint.id, secret, 'unused')) }
    // by `since` those are known that were canceled
    const columns = { ...columnsOf(fromNow ? 'setFromNow' : 'set'), since: raw<Date>`now()` }
    await switchTo(trx, endpoint, target, columns)
    if (isTold) await oweNotice(trx, partnerId, 'url_changed')
    return { id: endpoint.id, secretIsNew: known === undefined, canceled }
  })
}

/**
 * Switches an endpoint to a URL and the secret that signs for it, and keeps those before for seven days. A candidate is
 * dropped. The caller's transaction has the endpoint locked.
 *
 * @param columns what else changes, such as the state.
 */
export async function switchTo(
  trx: Sql,
  endpoint: LockedEndpoint,
  { url, secretId }: { url: string; secretId: number },
  columns: UpdateObject<Tables, 'endpoints'>,
): Promise<void> {
  const current = await currentSecret(trx, endpoint.id)
  if (secretId !== current) await signOnlyWith(trx, endpoint.id, secretId)
  // set once more, it keeps those before
  const isOther = url !== endpoint.url || secretId !== current
  await trx
    .updateTable('endpoints')
    .set({ ...noCandidate, ...columnsOfUrl(url), ...columns })
    .$if(isOther, (update) =>
      update.set({
        previous_url: endpoint.url,
        previous_secret: current ?? null,
        previous_until: raw<Date>`clock_timestamp() + interval '7 days'`,
      }),
    )
    .where('id', '=', endpoint.id)
    .execute()
}

/** A partner's endpoint, locked. */
export type LockedEndpoint = NonNullable<Awaited<ReturnType<typeof lockEndpoint>>>

/** Locks a partner's endpoint, in the caller's transaction. */
export async function lockEndpoint(trx: Sql, partnerId: number) {
  return trx
    .selectFrom('endpoints')
    .select(['id', 'partner_id', 'url', 'state', 'paused_by as pausedBy', 'failing_since as failingSince'])
    .select([
      'candidate',
      'candidate_url',
      'certification',
      raw<boolean>`round <> woken_round`.as('isWaking'),
    ])
    .where('partner_id', '=', partnerId)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

interface Previous {
  url: string
  secret_id: number
}

/** A partner's endpoint and how many of its deliveries are open. */
export async function findEndpoint(sql: Sql, partnerId: number) {
  return sql
    .selectFrom('endpoints')
    .select(['id', 'url', 'state', 'reason', 'since'])
    .select(['failing_since as failingSince', 'recovered_at as recoveredAt'])
    .select(['candidate_url', 'candidate_at', 'certification'])
    .select(
      // staff can still go back to it
      raw<Previous | null>`case when previous_until > clock_timestamp() and previous_url is not null
          then json_build_object('url', previous_url, 'secret_id', previous_secret) end`.as('previous'),
    )
    .select((eb) =>
      eb
        .selectFrom('deliveries')
        .select(raw<number>`count(*)::int`.as('open'))
        .whereRef('deliveries.partner_id', '=', 'endpoints.partner_id')
        .where('deliveries.state', '=', 'pending')
        .as('open_deliveries'),
    )
    .where('partner_id', '=', partnerId)
    .executeTakeFirst()
}
