import { defineEntity, p } from '@mikro-orm/core'
import { type MilestoneName, statuses } from '../decisions/milestones.ts'
import {
  type AnyCloseReason,
  anyCloseReasonNames,
  type HoldReason,
  holdReasonNames,
  REFERENCE,
} from '../decisions/reasons.ts'
import { instant, like, oneOf } from '../../database/columns.ts'
import { Partner } from '../../partners/tables/partner.ts'

export const Lead = defineEntity({
  name: 'Lead',
  tableName: 'leads',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    partner: () => p.manyToOne(Partner).deleteRule('restrict'),
    partnerLeadId: p.text().nullable(),
    /** Who the borrower is: name, email address and phone number, sealed; null once they are erased. */
    personal: p.text().nullable(),
    /** By which staff find a lead, and create-lead another of the same borrower: a keyed hash of its email address, under the key that `personal` is sealed with. */
    emailHash: p.text().nullable(),
    ficoRange: p.text().nullable(),
    loanOfficerId: p.text().nullable(),
    /** Sealed. */
    notes: p.text().nullable(),
    /** Each value is sealed. */
    metadata: p.json<Record<string, string>>().defaultRaw(`'{}'::jsonb`),
    status: p.text().$type<MilestoneName>(),
    /** Of the lead's next event. Positions have no gaps; webhook sequences skip 1,000 after a restore. */
    nextPosition: p.integer(),
    nextSequence: p.integer(),
    lastEventAt: instant(),
    /** The date from which its score updates are counted: escrow_funded. */
    anchorAt: instant().nullable(),
    /** Seconds by which the lead's clock runs ahead: sandbox only, forward only. */
    clockOffset: p.integer().default(0),
    workflowStartedAt: instant().nullable(),
    onboardingSentAt: instant().nullable(),
    closedAt: instant().nullable(),
    closeReason: p.text().$type<AnyCloseReason>().nullable(),
    erasedAt: instant().nullable(),
    /** Set while the law wants its data kept: it is not erased. */
    heldAt: instant().nullable(),
    holdReason: p.text().$type<HoldReason>().nullable(),
    /** A case number of staff's. */
    holdReference: p.text().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
    /** When the record was restored, until the lead's workflow has read it. */
    restoredAt: instant().nullable(),
  },
  checks: [
    { name: 'leads_status_check', expression: oneOf('status', statuses) },
    { name: 'leads_clock_offset_check', expression: 'clock_offset >= 0' },
    { name: 'leads_counters_check', expression: 'next_position >= 1 and next_sequence >= 1' },
    { name: 'leads_personal_check', expression: 'personal is not null or erased_at is not null' },
    { name: 'leads_held_check', expression: '(held_at is null) = (hold_reason is null)' },
    { name: 'leads_closed_check', expression: '(closed_at is null) = (close_reason is null)' },
    { name: 'leads_close_reason_check', expression: oneOf('close_reason', anyCloseReasonNames) },
    { name: 'leads_hold_reason_check', expression: oneOf('hold_reason', holdReasonNames) },
    {
      name: 'leads_hold_reference_check',
      expression: `hold_reference is null or held_at is not null and ${like('hold_reference', REFERENCE)}`,
    },
  ],
  indexes: [
    { name: 'leads_partner_id_index', properties: ['partner', 'id'] },
    { name: 'leads_status_index', properties: ['partner', 'status', 'id'] },
    {
      // by which a lead is found by the whole of it or by its beginning
      name: 'leads_partner_lead_id_prefix_index',
      expression:
        'create index leads_partner_lead_id_prefix_index on leads (partner_id, partner_lead_id text_pattern_ops, id) where partner_lead_id is not null',
    },
    {
      name: 'leads_restored_index',
      expression: 'create index leads_restored_index on leads (id) where restored_at is not null',
    },
    {
      name: 'leads_email_hash_index',
      expression:
        'create index leads_email_hash_index on leads (email_hash, partner_id, id) where email_hash is not null',
    },
    {
      name: 'leads_ended_index',
      expression:
        'create index leads_ended_index on leads (closed_at, id) where closed_at is not null and erased_at is null and held_at is null',
    },
    {
      name: 'leads_open_index',
      expression: 'create index leads_open_index on leads (partner_id, id) where closed_at is null',
    },
    {
      name: 'leads_closed_index',
      expression: 'create index leads_closed_index on leads (partner_id, id) where closed_at is not null',
    },
    {
      name: 'leads_unstarted_index',
      expression:
        'create index leads_unstarted_index on leads (created_at) where workflow_started_at is null',
    },
  ],
})
