import { defineEntity, p } from '@mikro-orm/core'
import {
  type CertificationCheck,
  type CertificationResult,
  certificationResults,
  type CheckReport,
} from '../decisions/certification.ts'
import { instant, oneOf } from '../../../core/database/columns.ts'
import { EndpointChange } from '../../../core/endpoints/tables/endpoint-change.ts'

/** Whether a candidate verifies what it takes: the checks that were made, and what came of them. */
export const Certification = defineEntity({
  name: 'Certification',
  tableName: 'certifications',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    /** The candidate. */
    change: () => p.manyToOne(EndpointChange).deleteRule('restrict').index(),
    /** The URL changes over whatever the result. */
    acceptFailures: p.boolean(),
    requestedBy: p.text(),
    requestedAt: instant().defaultRaw('clock_timestamp()'),
    finishedAt: instant().nullable(),
    result: p.text().$type<CertificationResult>().nullable(),
    reports: p.json<Partial<Record<CertificationCheck, CheckReport>>>().defaultRaw("'{}'"),
  },
  checks: [{ name: 'certifications_result_check', expression: oneOf('result', certificationResults) }],
  indexes: [
    {
      name: 'certifications_running_unique',
      expression:
        'create unique index certifications_running_unique on certifications (change_id) where result is null',
    },
  ],
})
