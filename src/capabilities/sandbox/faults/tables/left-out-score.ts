import { defineEntity, p } from '@mikro-orm/core'
import { Lead } from '../../../../core/leads/tables/lead.ts'

/** The latest score update of a lead that a fault left out: the lead's clock does not wait for it. */
export const LeftOutScore = defineEntity({
  name: 'LeftOutScore',
  tableName: 'left_out_scores',
  properties: {
    lead: () => p.oneToOne(Lead).owner().primary().deleteRule('cascade'),
    period: p.integer(),
  },
})
