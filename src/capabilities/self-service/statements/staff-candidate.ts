import { STAFF } from '../../../core/audit/decisions/audit-name.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { openCandidate, secretOfCandidate } from '../../../core/endpoints/statements/changes.ts'
import { signingSecrets } from '../../../core/endpoints/statements/secrets.ts'
import { sealing } from '../../../core/sealing/seal.ts'
import { requestCertification } from './certifications.ts'

interface Candidate {
  changeId: number
  secret: string
  /** `undefined` while the partner cannot have the secret yet. */
  certificationId: number | undefined
  /** Nothing else has the secret that the partner got. */
  hasOnlySecret: boolean
}

/**
 * Makes the URL that staff want to set the endpoint's candidate, and requests its certification: with the secret that the
 * partner has, or got with an earlier candidate. If it has none, it has to get `newSecret` first. The caller's
 * transaction has the endpoint locked.
 *
 * @throws {SealError}
 */
export async function openStaffCandidate(
  trx: Sql,
  endpointId: number,
  { url, newSecret }: { url: string; newSecret: string },
  encryptionKeys: readonly Buffer[],
): Promise<Candidate> {
  const [current] = await signingSecrets(trx, endpointId, encryptionKeys)
  const known = current ?? (await secretOfCandidate(trx, endpointId, encryptionKeys))
  const secret = known ?? newSecret
  const sealed = sealing(secret, encryptionKeys)
  const changeId = await openCandidate(trx, endpointId, { url, secret: sealed, requestedBy: STAFF })
  const candidate = { changeId, secret, hasOnlySecret: current === undefined }
  if (known === undefined) return { ...candidate, certificationId: undefined }
  const { id } = await requestCertification(trx, changeId, { acceptFailures: false, requestedBy: STAFF })
  return { ...candidate, certificationId: id }
}

/** Ends a candidate that is not set after all, unless it is settled. */
export async function dropCandidate(sql: Sql, changeId: number): Promise<void> {
  await sql
    .updateTable('endpoint_changes')
    .set({ state: 'canceled', settled_at: new Date() })
    .where('id', '=', changeId)
    .where('state', '=', 'candidate')
    .execute()
}

/** What came of a certification; `undefined` while it runs. */
export async function certificationResult(sql: Sql, certificationId: number) {
  const row = await sql
    .selectFrom('certifications')
    .select(['result', 'reports'])
    .where('id', '=', certificationId)
    .executeTakeFirstOrThrow()
  return row.result === null ? undefined : { result: row.result, reports: row.reports }
}
