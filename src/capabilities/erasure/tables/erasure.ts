import { defineEntity, p } from '@mikro-orm/core'
import type { Certificate } from '../decisions/erasure.ts'
import {
  type AnyErasureReason,
  anyErasureReasonNames,
  REFERENCE,
} from '../../../core/leads/decisions/reasons.ts'
import { instant, like, oneOf } from '../../../core/database/columns.ts'
import { Lead } from '../../../core/leads/tables/lead.ts'

/** A request to erase a lead's personal data, and what became of it: one for each lead, apart from canceled ones. */
export const Erasure = defineEntity({
  name: 'Erasure',
  tableName: 'erasures',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    lead: () => p.manyToOne(Lead).deleteRule('restrict'),
    /** As the audit names who asked: `key 12`, a member of staff, `retention`. */
    requestedBy: p.text(),
    requestedAt: instant().defaultRaw('clock_timestamp()'),
    reason: p.text().$type<AnyErasureReason>().nullable(),
    /** A case number of staff's. */
    reference: p.text().nullable(),
    dueAt: instant(),
    /** It waits until a person was told by email: production only. */
    isAnnounced: p.boolean().default(false),
    /** When its workflow was last started, or found running. */
    startedAt: instant().nullable(),
    /** When partner and staff were told by email. */
    toldAt: instant().nullable(),
    canceledAt: instant().nullable(),
    erasedAt: instant().nullable(),
    erasedBy: p.text().nullable(),
    /** When what is left was counted. */
    checkedAt: instant().nullable(),
    certificate: p.json<Certificate>().nullable(),
  },
  checks: [
    { name: 'erasures_reason_check', expression: oneOf('reason', anyErasureReasonNames) },
    { name: 'erasures_reference_check', expression: like('reference', REFERENCE) },
    {
      name: 'erasures_erased_check',
      expression:
        '(erased_at is null) = (certificate is null) and (erased_at is null) = (erased_by is null) and (erased_at is null or canceled_at is null)',
    },
  ],
  indexes: [
    {
      name: 'erasures_by_retention_index',
      expression:
        "create index erasures_by_retention_index on erasures (erased_at) where erased_by = 'retention'",
    },
    {
      name: 'erasures_lead_id_unique',
      expression:
        'create unique index erasures_lead_id_unique on erasures (lead_id) where canceled_at is null',
    },
    {
      name: 'erasures_open_index',
      expression:
        'create index erasures_open_index on erasures (due_at) where canceled_at is null and checked_at is null',
    },
  ],
})
