import { type CertificationCheck, certificationChecks, type CheckReport } from '../decisions/certification.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { latestCertification } from './certifications.ts'
import { findCandidate } from '../../../core/endpoints/statements/changes.ts'
import { latestPing } from './pings.ts'

/** What a partner has asked for its endpoint, and what came of it. */
export async function requestsOf(sql: Sql, endpointId: number) {
  const certification = await latestCertification(sql, endpointId)
  const ping = await latestPing(sql, endpointId)
  return {
    candidate: await findCandidate(sql, endpointId),
    certification: certification && { ...certification, reports: inOrder(certification.reports) },
    ping,
  }
}

function inOrder(reports: Partial<Record<CertificationCheck, CheckReport>>): CheckReport[] {
  return certificationChecks.flatMap((name) => {
    const report = reports[name]
    if (report === undefined) return []
    // jsonb sorts the names of fields
    const { check, sent, result, expected, received, duration_ms, hint } = report
    return [{ check, sent, result, expected, received, duration_ms, hint }]
  })
}
