import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../../../core/database/columns.ts'
import { Partner } from '../../../core/partners/tables/partner.ts'

/** The export of a lead that a partner reads, or read last: one at a time for each. */
export const Export = defineEntity({
  name: 'Export',
  tableName: 'exports',
  properties: {
    partner: () => p.oneToOne(Partner).owner().primary().deleteRule('restrict'),
    /** Names the export. */
    lease: p.uuid(),
    /** Until then, no other begins. */
    leasedUntil: instant(),
  },
})
