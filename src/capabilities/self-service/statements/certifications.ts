import { sql as raw } from 'kysely'
import {
  certificationChecks,
  type CertificationResult,
  type CheckReport,
} from '../decisions/certification.ts'
import { STAFF } from '../../../core/audit/decisions/audit-name.ts'
import { recordAudit } from '../../../core/audit/statements/audit.ts'
import {
  applyChange,
  auditChange,
  lockEndpointOf,
  openSecretOf,
} from '../../../core/endpoints/statements/changes.ts'
import { jsonb } from '../../../core/database/jsonb.ts'
import type { Sql } from '../../../core/database/orm.ts'

/**
 * Requests the certification of a candidate, or answers the one that is running. The caller's transaction has the
 * endpoint locked.
 */
export async function requestCertification(
  trx: Sql,
  changeId: number,
  { acceptFailures, requestedBy }: { acceptFailures: boolean; requestedBy: string },
): Promise<{ id: number; isNew: boolean }> {
  const running = await trx
    .selectFrom('certifications')
    .select('id')
    .where('change_id', '=', changeId)
    .where('result', 'is', null)
    .executeTakeFirst()
  if (running !== undefined) return { id: running.id, isNew: false }
  const { id } = await trx
    .insertInto('certifications')
    .values({ change_id: changeId, accept_failures: acceptFailures, requested_by: requestedBy })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, isNew: true }
}

/**
 * Where the calls of a running certification go, their secret, and what came of those so far; `undefined` if it has ended,
 * or its candidate is no longer one.
 *
 * @throws {SealError}
 */
export async function candidateOf(sql: Sql, certificationId: number, encryptionKeys: readonly Buffer[]) {
  const found = await sql
    .selectFrom('certifications')
    .innerJoin('endpoint_changes', 'endpoint_changes.id', 'change_id')
    .innerJoin('endpoints', 'endpoints.id', 'endpoint_changes.endpoint_id')
    .select(['certifications.requested_at as requestedAt', 'endpoints.partner_id as partnerId'])
    .select(['change_id as changeId', 'endpoint_changes.url', 'ciphertext', 'reports'])
    .where('certifications.id', '=', certificationId)
    .where('result', 'is', null)
    .where('endpoint_changes.state', '=', 'candidate')
    .executeTakeFirst()
  if (found === undefined) return undefined
  const { changeId: id, ciphertext, ...candidate } = found
  return { ...candidate, secret: openSecretOf({ id, ciphertext }, encryptionKeys) }
}

/** Writes down what came of checks; repeated after a crash, the later one counts. */
export async function writeReports(
  sql: Sql,
  certificationId: number,
  reports: readonly CheckReport[],
): Promise<void> {
  const byCheck = Object.fromEntries(reports.map((report) => [report.check, report]))
  await sql
    .updateTable('certifications')
    .set({ reports: raw`reports || ${jsonb(byCheck)}` })
    .where('id', '=', certificationId)
    .where('result', 'is', null)
    .execute()
}

interface Ended {
  result: CertificationResult
  /** Set if the endpoint changed over. */
  changedOver?: number
}

/**
 * Ends a certification. If it passed, or its failures are accepted, the candidate takes effect in the same transaction.
 * What staff had certified, their command sets.
 */
export async function endCertification(
  sql: Sql,
  certificationId: number,
  encryptionKeys: readonly Buffer[],
): Promise<Ended> {
  return sql.transaction().execute(async (trx) => {
    const { change_id: changeId } = await trx
      .selectFrom('certifications')
      .select('change_id')
      .where('id', '=', certificationId)
      .executeTakeFirstOrThrow()
    const endpointId = await lockEndpointOf(trx, changeId)
    const { state, result: known, ...row } = await readForEnd(trx, certificationId)
    if (known !== null) return { result: known }
    const failed = certificationChecks.filter((check) => row.reports[check]?.result !== 'passed')
    const verdict = failed.length === 0 ? 'passed' : 'failed'
    const result = state === 'candidate' ? verdict : 'superseded'
    await trx
      .updateTable('certifications')
      .set({ result, finished_at: raw<Date>`clock_timestamp()` })
      .where('id', '=', certificationId)
      .execute()
    const isAccepted =
      state === 'candidate' && row.requested_by !== STAFF && (verdict === 'passed' || row.accept_failures)
    if (isAccepted)
      await applyChange(trx, changeId, encryptionKeys, { isPaced: row.reports.valid?.result !== 'passed' })
    const detail = { certification_id: certificationId, result, failed_checks: failed }
    const action = { action: 'endpoint.certification_ended', partnerId: row.partner_id, detail }
    await recordAudit(trx, row.requested_by, { ...action, outcome: 'done' })
    if (isAccepted) await auditChange(trx, changeId, 'endpoint.change_applied')
    return { result, ...(isAccepted && { changedOver: endpointId }) }
  })
}

async function readForEnd(trx: Sql, certificationId: number) {
  return trx
    .selectFrom('certifications')
    .innerJoin('endpoint_changes', 'endpoint_changes.id', 'change_id')
    .innerJoin('endpoints', 'endpoints.id', 'endpoint_changes.endpoint_id')
    .select(['result', 'reports', 'accept_failures', 'certifications.requested_by'])
    .select(['endpoint_changes.state', 'endpoints.partner_id'])
    .where('certifications.id', '=', certificationId)
    .executeTakeFirstOrThrow()
}

/** The latest certification of any candidate of the endpoint. */
export async function latestCertification(sql: Sql, endpointId: number) {
  return sql
    .selectFrom('certifications')
    .innerJoin('endpoint_changes', 'endpoint_changes.id', 'change_id')
    .select(['url', 'result', 'reports', 'certifications.requested_at', 'finished_at'])
    .where('endpoint_id', '=', endpointId)
    .orderBy('certifications.id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Certifications that are requested or running. */
export async function runningCertifications(sql: Sql, limit: number): Promise<number[]> {
  const rows = await sql
    .selectFrom('certifications')
    .select('id')
    .where('result', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
