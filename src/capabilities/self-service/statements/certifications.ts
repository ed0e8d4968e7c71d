import { recordAudit } from '../../../core/audit/statements/audit.ts'
import { jsonb } from '../../../core/database/jsonb.ts'
import type { Sql } from '../../../core/database/sql.ts'
import {
  type Certification,
  certificationChecks,
  type CertificationRequest,
  type CheckReport,
} from '../../../core/endpoints/decisions/certification.ts'
import { lockEndpoint, type LockedEndpoint, switchTo } from '../../../core/endpoints/statements/endpoint.ts'
import { oweNotice } from '../../../core/endpoints/statements/notices.ts'
import { secretPlace } from '../../../core/endpoints/statements/secrets.ts'
import { columnsOf, nextRevision } from '../../../core/endpoints/statements/states.ts'
import { open } from '../../../core/sealing/seal.ts'

/** Which certification: once the endpoint's row has another, or none, it counts for nothing. */
type Which = Pick<CertificationRequest, 'partnerId' | 'candidate' | 'requestedAt'>

const isOf = (found: Certification | null | undefined, { candidate, requestedAt }: Which) =>
  found?.candidate === candidate && found.requestedAt === requestedAt

/**
 * Begins the certification of an endpoint's candidate, or answers the one that is running. `undefined` without a candidate.
 */
export async function beginCertification(
  trx: Sql,
  { id, candidate, candidate_url: url, certification }: LockedEndpoint,
): Promise<{ certification: Certification; isNew: boolean } | undefined> {
  if (candidate === null || url === null) return undefined
  if (certification?.state === 'running') return { certification, isNew: false }
  const requestedAt = new Date().toISOString()
  const begun: Certification = { candidate, url, state: 'running', requestedAt, finishedAt: null, checks: [] }
  await write(trx, id, begun)
  return { certification: begun, isNew: true }
}

async function write(trx: Sql, endpointId: number, certification: Certification | null): Promise<void> {
  const endpoint = trx.updateTable('endpoints').where('id', '=', endpointId)
  await endpoint.set({ certification: jsonb(certification) }).execute()
}

/** Forgets one that no workflow was started for. */
export async function forgetCertification(sql: Sql, which: Which): Promise<void> {
  await sql.transaction().execute(async (trx) => {
    const endpoint = await lockEndpoint(trx, which.partnerId)
    if (endpoint && isOf(endpoint.certification, which)) await write(trx, endpoint.id, null)
  })
}

/**
 * Where the calls of a running certification go, their secret, and what came of those so far; `undefined` if it has ended,
 * or counts for nothing.
 *
 * @throws {SealError}
 */
export async function candidateOf(sql: Sql, which: Which, encryptionKeys: readonly Buffer[]) {
  const found = await sql
    .selectFrom('endpoints')
    .innerJoin('endpoint_secrets', 'endpoint_secrets.id', 'candidate')
    .select(['certification', 'ciphertext'])
    .where('partner_id', '=', which.partnerId)
    .executeTakeFirst()
  if (found?.certification?.state !== 'running' || !isOf(found.certification, which)) return undefined
  const { url, checks } = found.certification
  return { url, checks, secret: open(found.ciphertext, secretPlace(which.candidate), encryptionKeys) }
}

/** Writes down what came of checks; repeated after a crash, the later one counts. */
export async function writeReports(sql: Sql, which: Which, reports: readonly CheckReport[]): Promise<void> {
  await sql.transaction().execute(async (trx) => {
    const endpoint = await lockEndpoint(trx, which.partnerId)
    if (!endpoint?.certification || !isOf(endpoint.certification, which)) return
    const later = new Set(reports.map(({ check }) => check))
    const earlier = endpoint.certification.checks.filter(({ check }) => !later.has(check))
    await write(trx, endpoint.id, { ...endpoint.certification, checks: [...earlier, ...reports] })
  })
}

interface Ended {
  /** `superseded`: the candidate was replaced or dropped meanwhile. */
  result: Certification['state'] | 'superseded'
  /** The endpoint, if it was switched. */
  switched?: number
}

/**
 * Ends a certification. If it passed, or its failures are accepted, the endpoint switches to the candidate in the same
 * transaction.
 */
export async function endCertification(sql: Sql, request: CertificationRequest): Promise<Ended> {
  const { partnerId, candidate, acceptFailures, requestedBy } = request
  return sql.transaction().execute(async (trx) => {
    const endpoint = await lockEndpoint(trx, partnerId)
    if (!endpoint?.certification || !isOf(endpoint.certification, request)) return { result: 'superseded' }
    const { certification } = endpoint
    if (certification.state !== 'running')
      return { result: certification.state, ...(endpoint.candidate === null && { switched: endpoint.id }) }
    const passed = certification.checks.flatMap(({ check, result }) => (result === 'passed' ? check : []))
    const failed = certificationChecks.filter((check) => !passed.includes(check))
    const state = failed.length === 0 ? 'passed' : 'failed'
    const isSwitched = state === 'passed' || acceptFailures
    const { url } = certification
    if (isSwitched) {
      const target = { url, secretId: candidate }
      await switchAsPartner(trx, endpoint, target)
    }
    await write(trx, endpoint.id, { ...certification, state, finishedAt: new Date().toISOString() })
    const detail = { candidate, origin: new URL(url).origin, failed_checks: failed, switched: isSwitched }
    const action = { action: 'endpoint.certification_ended', partnerId, detail }
    await recordAudit(trx, requestedBy, { ...action, outcome: 'done' })
    return { result: state, ...(isSwitched && { switched: endpoint.id }) }
  })
}

/** Held webhooks are sent in order from here on, unless staff paused the endpoint. Partner and staff are told. */
export async function switchAsPartner(
  trx: Sql,
  endpoint: LockedEndpoint,
  target: Parameters<typeof switchTo>[2],
): Promise<void> {
  const columns = endpoint.pausedBy === 'staff' ? { revision: nextRevision } : columnsOf('set')
  await switchTo(trx, endpoint, target, columns)
  await oweNotice(trx, endpoint.partner_id, 'url_changed')
}
