import { defineEntity, p } from '@mikro-orm/core'
import { type AnyCloseReason, anyCloseReasonNames } from '../../../core/leads/decisions/reasons.ts'
import { instant, oneOf } from '../../../core/database/columns.ts'
import { Lead } from '../../../core/leads/tables/lead.ts'

/** A request to close a lead, and what became of it: at most one of a lead is open. */
export const Closing = defineEntity({
  name: 'Closing',
  tableName: 'closings',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    lead: () => p.manyToOne(Lead).deleteRule('restrict'),
    /** As the audit names who asked: `key 12`. */
    requestedBy: p.text(),
    requestedAt: instant().defaultRaw('clock_timestamp()'),
    reason: p.text().$type<AnyCloseReason>(),
    /** On the lead's own clock, as the dates of its events are. */
    dueAt: instant(),
    /** It waits until a person was told by email: production only. */
    isAnnounced: p.boolean(),
    /** When its workflow was last started, or found running. */
    startedAt: instant().nullable(),
    /** When partner and staff were told by email. */
    toldAt: instant().nullable(),
    canceledAt: instant().nullable(),
    /** When it began to be carried out: from then on it cannot be canceled. */
    begunAt: instant().nullable(),
    /** When the lead was found to be closed, by this or by something else. */
    endedAt: instant().nullable(),
  },
  checks: [
    { name: 'closings_reason_check', expression: oneOf('reason', anyCloseReasonNames) },
    {
      name: 'closings_canceled_check',
      expression: 'canceled_at is null or (begun_at is null and ended_at is null)',
    },
  ],
  indexes: [
    {
      name: 'closings_lead_id_unique',
      expression:
        'create unique index closings_lead_id_unique on closings (lead_id) where canceled_at is null and ended_at is null',
    },
    { name: 'closings_lead_id_index', properties: ['lead'] },
  ],
})
