import { defineEntity, p } from '@mikro-orm/core'
import type { MilestoneName } from '../../leads/decisions/milestones.ts'
import { instant } from '../../database/columns.ts'

/**
 * What Temporal knew and the record did not have any more: a lead, or one of its milestones. It refers to no other row:
 * lead and partner may be lost too.
 */
export const Loss = defineEntity({
  name: 'Loss',
  tableName: 'losses',
  properties: {
    generation: p.integer().primary(),
    leadId: p.integer().primary(),
    /** Of the milestone; empty for the lead itself. */
    dedupeKey: p.text().primary(),
    partnerId: p.integer(),
    eventName: p.text().$type<MilestoneName>().nullable(),
    /** When it was recorded on the lead's clock, as far as it is known. */
    happenedAt: instant().nullable(),
    /** Whether its workflow recorded it again. */
    isRecordedAgain: p.boolean(),
    noticedAt: instant().defaultRaw('clock_timestamp()'),
  },
  indexes: [{ name: 'losses_partner_id_index', properties: ['partnerId'] }],
})
