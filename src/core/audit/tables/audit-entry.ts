import { defineEntity, p } from '@mikro-orm/core'
import { instant, oneOf } from '../../database/columns.ts'

/** `failed`: nothing was done, or not all of it; `unknown`: it may have been done, since no answer came. */
export const auditOutcomes = ['begun', 'done', 'failed', 'unknown'] as const

/**
 * What staff did, and what partners did to their own endpoints or asked us to erase: when, to whom. What is one transaction has one row, `done`, which is part of it; everything else has
 * two: `begun` before, and one that names it by `begunId` and says what came of it. The function write_audit writes them: it
 * takes `actor` from the session, unless the service writes. A trigger refuses to change rows, and sets `id`, `at`,
 * `databaseUser` and the two hashes, which chain each row to the one before.
 */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit',
  properties: {
    id: p.bigint('number').primary().autoincrement(false),
    at: instant().defaultRaw('clock_timestamp()'),
    /** A key, staff’s own login, or the name that staff gave who act with the service’s login. */
    actor: p.text(),
    /** What staff called themselves, where that is not `actor`. */
    staffName: p.text().nullable(),
    action: p.text(),
    outcome: p.text().$type<(typeof auditOutcomes)[number]>(),
    begunId: p.bigint('number').nullable(),
    partnerId: p.integer().nullable(),
    leadId: p.integer().nullable(),
    detail: p.json<Record<string, unknown>>().nullable(),
    /** Where a staff command ran: the operating system's user and the host. */
    osUser: p.text().nullable(),
    host: p.text().nullable(),
    /** The login, not the role that it took on; `null` before there was this column. */
    databaseUser: p.text().nullable(),
    previousHash: p.blob(),
    hash: p.blob(),
  },
  checks: [
    { name: 'audit_outcome_check', expression: oneOf('outcome', auditOutcomes) },
    {
      name: 'audit_begun_check',
      expression:
        "case outcome when 'begun' then begun_id is null when 'done' then true else begun_id is not null end",
    },
  ],
  uniques: [
    { name: 'audit_begun_id_unique', properties: ['begunId'] },
    // a transaction that cannot see the latest row must not branch off an earlier one
    { name: 'audit_previous_hash_unique', properties: ['previousHash'] },
  ],
  indexes: [
    { name: 'audit_at_index', properties: ['at'] },
    { name: 'audit_partner_id_index', properties: ['partnerId', 'at'] },
    {
      name: 'audit_lead_id_index',
      expression: 'create index audit_lead_id_index on audit (lead_id, id) where lead_id is not null',
    },
  ],
})
