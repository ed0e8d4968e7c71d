import { defineEntity, p } from '@mikro-orm/core'
import { instant, oneOf } from '../../database/columns.ts'

/** `failed`: nothing was done, or not all of it; `unknown`: it may have been done, since no answer came. */
export const auditOutcomes = ['begun', 'done', 'failed', 'unknown'] as const

/**
 * What staff did, and what partners did to their own endpoints or asked us to erase: when, to whom. What is one transaction
 * has one row, `done`, which is part of it; everything else has two: `begun` before, and one that names it by `begunId` and
 * says what came of it. Rows are only added; a trigger refuses everything else.
 */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit',
  properties: {
    id: p.bigint('number').primary().generated('by default as identity'),
    at: instant().defaultRaw('clock_timestamp()'),
    /** A key, the name that staff gave, or what of the service acted. */
    actor: p.text(),
    action: p.text(),
    outcome: p.text().$type<(typeof auditOutcomes)[number]>(),
    begunId: p.bigint('number').nullable(),
    partnerId: p.integer().nullable(),
    leadId: p.integer().nullable(),
    detail: p.json<Record<string, unknown>>().nullable(),
    /** Where a staff command ran: the operating system's user and the host. */
    osUser: p.text().nullable(),
    host: p.text().nullable(),
    /** The login that PostgreSQL checked, whatever the actor’s name; no grant lets a session write it. */
    databaseUser: p.text().defaultRaw('session_user'),
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
    {
      name: 'audit_lead_id_index',
      expression: 'create index audit_lead_id_index on audit (lead_id, id) where lead_id is not null',
    },
  ],
})
