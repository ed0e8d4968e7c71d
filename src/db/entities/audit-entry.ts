import { defineEntity, p } from '@mikro-orm/core'
import { instant, oneOf } from './columns.ts'

/** `failed`: nothing was done, or not all of it; `unknown`: it may have been done, since no answer came. */
export const auditOutcomes = ['begun', 'done', 'failed', 'unknown'] as const

/**
 * What staff did, and what partners did to their own endpoints: when, to whom. What is one transaction has one row, `done`, which is part of it; everything else has
 * two: `begun` before, and one that names it by `begunId` and says what came of it. Rows are never changed.
 */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    at: instant().defaultRaw('clock_timestamp()'),
    actor: p.text(),
    action: p.text(),
    outcome: p.text().$type<(typeof auditOutcomes)[number]>(),
    begunId: p.integer().nullable(),
    partnerId: p.integer().nullable(),
    leadId: p.integer().nullable(),
    detail: p.json<Record<string, unknown>>().nullable(),
  },
  checks: [
    { name: 'audit_outcome_check', expression: oneOf('outcome', auditOutcomes) },
    {
      name: 'audit_begun_check',
      expression:
        "case outcome when 'begun' then begun_id is null when 'done' then true else begun_id is not null end",
    },
  ],
  uniques: [{ name: 'audit_begun_id_unique', properties: ['begunId'] }],
  indexes: [
    { name: 'audit_at_index', properties: ['at'] },
    { name: 'audit_partner_id_index', properties: ['partnerId', 'at'] },
  ],
})
