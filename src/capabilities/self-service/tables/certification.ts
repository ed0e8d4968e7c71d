import { defineEntity, p } from '@mikro-orm/core'
import {
  type CertificationCheck,
  type CertificationResult,
  certificationResults,
  type CheckReport,
} from '../decisions/certification.ts'
import type { RehearsalCheck } from '../decisions/rehearsal.ts'
import type { RehearsalReport } from '../decisions/rehearsal-report.ts'
import { instant, oneOf } from '../../../core/database/columns.ts'
import { Endpoint } from '../../../core/endpoints/tables/endpoint.ts'
import { EndpointChange } from '../../../core/endpoints/tables/endpoint-change.ts'

type Reports = Partial<Record<CertificationCheck, CheckReport> & Record<RehearsalCheck, RehearsalReport>>

/**
 * Whether a candidate verifies what it takes, or in a sandbox whether an endpoint copes with bad days: the checks that were
 * made, and what came of them.
 */
export const Certification = defineEntity({
  name: 'Certification',
  tableName: 'certifications',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    /** The candidate; `null` for a rehearsal, which has the next three instead. */
    change: () => p.manyToOne(EndpointChange).deleteRule('restrict').nullable().index(),
    rehearsedEndpoint: () => p.manyToOne(Endpoint).deleteRule('restrict').nullable().index(),
    /** That of the endpoint when the rehearsal was requested. */
    rehearsedUrl: p.text().nullable(),
    checks: p.array().columnType('text[]').nullable(),
    /** The URL changes over whatever the result. */
    acceptFailures: p.boolean(),
    requestedBy: p.text(),
    requestedAt: instant().defaultRaw('clock_timestamp()'),
    finishedAt: instant().nullable(),
    result: p.text().$type<CertificationResult>().nullable(),
    reports: p.json<Reports>().defaultRaw("'{}'"),
  },
  checks: [
    { name: 'certifications_result_check', expression: oneOf('result', certificationResults) },
    {
      name: 'certifications_rehearsal_check',
      expression:
        'num_nonnulls(rehearsed_endpoint_id, rehearsed_url, checks) = case when change_id is null then 3 else 0 end',
    },
  ],
  indexes: [
    {
      name: 'certifications_running_unique',
      expression:
        'create unique index certifications_running_unique on certifications (change_id) where result is null',
    },
    {
      name: 'certifications_rehearsing_unique',
      expression:
        'create unique index certifications_rehearsing_unique on certifications (rehearsed_endpoint_id) where result is null',
    },
  ],
})
