import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../../database/columns.ts'
import { Lead } from './lead.ts'
import { Partner } from '../../partners/tables/partner.ts'

/** A create-lead request's `Idempotency-Key`, kept 24 h with the answer it got. */
export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    partner: () => p.manyToOne(Partner).primary().deleteRule('restrict'),
    key: p.text().primary(),
    /** Sealed. */
    requestHash: p.text(),
    response: p.text(),
    lead: () => p.manyToOne(Lead).deleteRule('restrict'),
    createdAt: instant().defaultRaw('now()'),
  },
  indexes: [
    { name: 'idempotency_keys_created_at_index', properties: ['createdAt'] },
    { name: 'idempotency_keys_lead_id_index', properties: ['lead'] },
  ],
})
