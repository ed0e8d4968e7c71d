import { defineEntity, p } from '@mikro-orm/core'
import { instant } from './columns.ts'

/** What staff did, when, to whom. */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    at: instant().defaultRaw('clock_timestamp()'),
    actor: p.text(),
    action: p.text(),
    partnerId: p.integer().nullable(),
    leadId: p.integer().nullable(),
    detail: p.json<Record<string, unknown>>().nullable(),
  },
  indexes: [{ name: 'audit_at_index', properties: ['at'] }],
})
