import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../../database/columns.ts'
import { Lead } from '../../leads/tables/lead.ts'
import { Partner } from '../../partners/tables/partner.ts'

/** The `Idempotency-Key` of a request, kept 24 h with the answer that it got. */
export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    partner: () => p.manyToOne(Partner).primary().deleteRule('restrict'),
    /** Of all calls but create-lead, with the call before it. */
    key: p.text().primary(),
    /** Sealed for create-lead, whose body tells of a borrower. */
    requestHash: p.text(),
    response: p.text(),
    /** The lead that create-lead made; its erasure deletes the key. */
    lead: () => p.manyToOne(Lead).deleteRule('restrict').nullable(),
    /** Where the signing secret is sealed that belongs to the answer: no second copy of it is made. */
    secretAt: p.text().nullable(),
    createdAt: instant().defaultRaw('now()'),
  },
  indexes: [
    { name: 'idempotency_keys_created_at_index', properties: ['createdAt'] },
    { name: 'idempotency_keys_lead_id_index', properties: ['lead'] },
  ],
})
