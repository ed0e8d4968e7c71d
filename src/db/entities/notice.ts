import { defineEntity, p } from '@mikro-orm/core'
import { instant } from './columns.ts'
import { Partner } from './partner.ts'

/** A mail about a partner's deliveries: at most one of a kind an hour, but each recovery, whose `hour` is when it was owed. */
export const Notice = defineEntity({
  name: 'Notice',
  tableName: 'notices',
  properties: {
    partner: () => p.manyToOne(Partner).primary().deleteRule('restrict'),
    kind: p.text().primary(),
    hour: instant().primary(),
    eventId: p.text().nullable(),
    sentAt: instant().nullable(),
  },
})
