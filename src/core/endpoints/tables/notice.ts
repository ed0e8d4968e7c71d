import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../../database/columns.ts'
import { Partner } from '../../partners/tables/partner.ts'

/** A mail about a partner's deliveries. */
export const Notice = defineEntity({
  name: 'Notice',
  tableName: 'notices',
  properties: {
    partner: () => p.manyToOne(Partner).primary().deleteRule('restrict'),
    kind: p.text().primary(),
    owedAt: instant().primary(),
    eventId: p.text().nullable(),
    sentAt: instant().nullable(),
  },
})
