import { sql as raw } from 'kysely'
import { HOUR_MS } from '../../values/durations.ts'
import { openChangeStates, type EndpointChangeKind } from '../decisions/endpoint-change.ts'
import { recordAudit } from '../../audit/statements/audit.ts'
import { columnsOf, columnsOfUrl, nextRevision } from './states.ts'
import { replaceSecrets, rotateSecret } from './secrets.ts'
import { nextId } from '../../database/next-id.ts'
import type { Sql } from '../../database/orm.ts'
import { open, type Place, type SealAt, sealing } from '../../sealing/seal.ts'

/** Where the signing secret is sealed that a change brings. */
export const changePlace = (id: number): Place => `endpoint_changes:${id}:ciphertext`

/**
 * The signing secret that a change brings.
 *
 * @throws {SealError}
 */
export function openSecretOf(
  { id, ciphertext }: { id: number; ciphertext: string },
  encryptionKeys: readonly Buffer[],
): string {
  return open(ciphertext, changePlace(id), encryptionKeys)
}

/**
 * The secret of the URL that a partner is to certify, whoever proposed it: the partner got it then.
 *
 * @throws {SealError}
 */
export async function secretOfCandidate(
  sql: Sql,
  endpointId: number,
  encryptionKeys: readonly Buffer[],
): Promise<string | undefined> {
  const candidate = await sql
    .selectFrom('endpoint_changes')
    .select(['id', 'ciphertext'])
    .where('endpoint_id', '=', endpointId)
    .where('kind', '=', 'url')
    .where('state', '=', 'candidate')
    .executeTakeFirst()
  return candidate && openSecretOf(candidate, encryptionKeys)
}

interface NewChange {
  kind: EndpointChangeKind
  state: 'candidate' | 'announced'
  url?: string
  secret: SealAt
  overlapHours?: number
  /** The audit's name of the key that asked. */
  requestedBy: string
}

/** Puts a change in the place of an open one of its kind. The caller's transaction has the endpoint locked. */
export async function openChange(
  trx: Sql,
  endpointId: number,
  { kind, state, url, secret, overlapHours = 0, requestedBy }: NewChange,
): Promise<number> {
  await endOpenChanges(trx, endpointId, 'replaced', [kind])
  const id = await nextId(trx, 'endpoint_changes')
  await trx
    .insertInto('endpoint_changes')
    .values({
      id,
      endpoint_id: endpointId,
      kind,
      state,
      url: url ?? null,
      ciphertext: secret(changePlace(id)),
      overlap_hours: overlapHours,
      requested_by: requestedBy,
    })
    .execute()
  return id
}

/** Ends open changes, which then never take effect. The caller's transaction has the endpoint locked. */
export async function endOpenChanges(
  trx: Sql,
  endpointId: number,
  state: 'canceled' | 'replaced',
  kinds: readonly EndpointChangeKind[] = ['url', 'secret'],
): Promise<{ id: number; kind: EndpointChangeKind }[]> {
  return trx
    .updateTable('endpoint_changes')
    .set({ state, settled_at: raw<Date>`clock_timestamp()` })
    .where('endpoint_id', '=', endpointId)
    .where('kind', 'in', kinds)
    .where('state', 'in', openChangeStates)
    .returning(['id', 'kind'])
    .execute()
}

/** A partner's open changes. */
export async function openChanges(sql: Sql, endpointId: number) {
  return sql
    .selectFrom('endpoint_changes')
    .select(['id', 'kind', 'state', 'url', 'requested_by', 'requested_at', 'takes_effect_at'])
    .where('endpoint_id', '=', endpointId)
    .where('state', 'in', openChangeStates)
    .orderBy('id')
    .execute()
}

/** Open changes that a key asked for, by its name in the audit. */
export async function openChangesBy(sql: Sql, requestedBy: string): Promise<number[]> {
  const rows = await sql
    .selectFrom('endpoint_changes')
    .select('id')
    .where('requested_by', '=', requestedBy)
    .where('state', 'in', openChangeStates)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Locks the endpoint that a change is of. @throws if there is no such change. */
export async function lockEndpointOf(trx: Sql, changeId: number): Promise<number> {
  const { id } = await trx
    .selectFrom('endpoints')
    .select('id')
    .where('id', '=', (eb) =>
      eb.selectFrom('endpoint_changes').select('endpoint_id').where('endpoint_changes.id', '=', changeId),
    )
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  return id
}

/**
/**
 * Makes a change take effect: URL and secret in one transaction, the caller's, which has the endpoint locked, and which
 * writes the audit's row at its end.
 *
 * @throws {SealError}
 */
export async function applyChange(
  trx: Sql,
  changeId: number,
  encryptionKeys: readonly Buffer[],
  { isPaced = false }: { isPaced?: boolean } = {},
): Promise<void> {
  const change = await trx
    .updateTable('endpoint_changes')
    .set({ state: 'applied', settled_at: raw<Date>`clock_timestamp()` })
    .where('id', '=', changeId)
    .returning(['endpoint_id', 'url', 'ciphertext', 'overlap_hours'])
    .executeTakeFirstOrThrow()
  const { endpoint_id: endpointId, url, ciphertext, overlap_hours: hours } = change
  const secret = sealing(openSecretOf({ id: changeId, ciphertext }, encryptionKeys), encryptionKeys)
  if (url === null) await rotateSecret(trx, endpointId, secret, hours * HOUR_MS)
  else await changeOver(trx, endpointId, { url, isPaced }, secret)
}

/** Held webhooks are sent in order from here on, unless staff paused the endpoint. */
async function changeOver(
  trx: Sql,
  endpointId: number,
  { url, isPaced }: { url: string; isPaced: boolean },
  secret: SealAt,
): Promise<void> {
  const endpoint = trx.updateTable('endpoints').where('id', '=', endpointId)
  const lifted = await endpoint
    .set({ ...columnsOfUrl(url, isPaced), ...columnsOf('certified') })
    .where('paused_by', 'is distinct from', 'staff')
    .returning('id')
    .executeTakeFirst()
  if (lifted === undefined)
    await endpoint.set({ ...columnsOfUrl(url, isPaced), revision: nextRevision }).execute()
  await replaceSecrets(trx, endpointId, secret)
}

/** The audit row of a step that follows from what a key asked for. */
export async function auditChange(trx: Sql, changeId: number, action: string): Promise<void> {
  const change = await trx
    .selectFrom('endpoint_changes')
    .innerJoin('endpoints', 'endpoints.id', 'endpoint_changes.endpoint_id')
    .select(['requested_by', 'partner_id', 'kind', 'endpoint_changes.url'])
    .where('endpoint_changes.id', '=', changeId)
    .executeTakeFirstOrThrow()
  const { requested_by: actor, partner_id: partnerId, kind, url } = change
  const detail = { change_id: changeId, kind, ...(url !== null && { origin: new URL(url).origin }) }
  await recordAudit(trx, actor, { action, outcome: 'done', partnerId, detail })
}
