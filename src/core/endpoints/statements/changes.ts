import { sql as raw } from 'kysely'
import { recordAudit } from '../../audit/statements/audit.ts'
import { columnsOf, columnsOfUrl, nextRevision } from './states.ts'
import { oweNotice } from './notices.ts'
import { replaceSecrets } from './secrets.ts'
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
    .where('state', '=', 'candidate')
    .executeTakeFirst()
  return candidate && openSecretOf(candidate, encryptionKeys)
}

interface NewCandidate {
  url: string
  secret: SealAt
  /** The audit's name of the key that asked. */
  requestedBy: string
}

/** Puts a candidate in the place of an earlier one. The caller's transaction has the endpoint locked. */
export async function openCandidate(
  trx: Sql,
  endpointId: number,
  { url, secret, requestedBy }: NewCandidate,
): Promise<number> {
  await endCandidate(trx, endpointId, 'replaced')
  const id = await nextId(trx, 'endpoint_changes')
  await trx
    .insertInto('endpoint_changes')
    .values({
      id,
      endpoint_id: endpointId,
      state: 'candidate',
      url,
      ciphertext: secret(changePlace(id)),
      requested_by: requestedBy,
    })
    .execute()
  return id
}

/** Ends a candidate, which then never takes effect. The caller's transaction has the endpoint locked. */
export async function endCandidate(
  trx: Sql,
  endpointId: number,
  state: 'canceled' | 'replaced',
): Promise<number | undefined> {
  const ended = await trx
    .updateTable('endpoint_changes')
    .set({ state, settled_at: raw<Date>`clock_timestamp()` })
    .where('endpoint_id', '=', endpointId)
    .where('state', '=', 'candidate')
    .returning('id')
    .executeTakeFirst()
  return ended?.id
}

/** The URL that a partner is to certify. */
export async function findCandidate(sql: Sql, endpointId: number) {
  return sql
    .selectFrom('endpoint_changes')
    .select(['id', 'url', 'requested_by', 'requested_at'])
    .where('endpoint_id', '=', endpointId)
    .where('state', '=', 'candidate')
    .executeTakeFirst()
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
 * Makes a candidate take effect: URL and secret in one transaction, the caller's, which has the endpoint locked, and which
 * writes the audit's row at its end. Partner and staff are told.
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
    .returning(['endpoint_id', 'url', 'ciphertext'])
    .executeTakeFirstOrThrow()
  const { endpoint_id: endpointId, url, ciphertext } = change
  const secret = sealing(openSecretOf({ id: changeId, ciphertext }, encryptionKeys), encryptionKeys)
  await changeOver(trx, endpointId, { url, isPaced }, secret)
}

/** Held webhooks are sent in order from here on, unless staff paused the endpoint. */
async function changeOver(
  trx: Sql,
  endpointId: number,
  { url, isPaced }: { url: string; isPaced: boolean },
  secret: SealAt,
): Promise<void> {
  const endpoint = trx.updateTable('endpoints').where('id', '=', endpointId)
  const { partner_id: partnerId } = await trx
    .selectFrom('endpoints')
    .select('partner_id')
    .where('id', '=', endpointId)
    .executeTakeFirstOrThrow()
  await oweNotice(trx, partnerId, 'url_changed')
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
    .select(['requested_by', 'partner_id', 'endpoint_changes.url'])
    .where('endpoint_changes.id', '=', changeId)
    .executeTakeFirstOrThrow()
  const { requested_by: actor, partner_id: partnerId, url } = change
  const detail = { change_id: changeId, origin: new URL(url).origin }
  await recordAudit(trx, actor, { action, outcome: 'done', partnerId, detail })
}
