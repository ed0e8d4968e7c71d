import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../../../core/database/columns.ts'
import { Partner } from '../../../core/partners/tables/partner.ts'

/** That a partner's leads were looked through in a month, and when it was told of those in which nothing happens. */
export const DormancyDigest = defineEntity({
  name: 'DormancyDigest',
  tableName: 'dormancy_digests',
  properties: {
    partner: () => p.manyToOne(Partner).primary().deleteRule('restrict'),
    /** Such as `2026-11`, UTC. */
    month: p.text().primary(),
    madeAt: instant().defaultRaw('clock_timestamp()'),
    /** How many leads were found. */
    leads: p.integer(),
    /** When the email was sent; at once if there was nothing to tell. */
    sentAt: instant().nullable(),
  },
})
