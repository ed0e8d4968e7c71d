import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../../database/columns.ts'
import { Partner } from './partner.ts'

/** What a partner has used up of what it may do only so often. */
export const Quota = defineEntity({
  name: 'Quota',
  tableName: 'quotas',
  properties: {
    partner: () => p.manyToOne(Partner).primary().deleteRule('restrict'),
    name: p.text().primary(),
    /** When all of it is there again. */
    spentUntil: instant(),
  },
})
