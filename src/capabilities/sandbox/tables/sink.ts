import { defineEntity, p } from '@mikro-orm/core'
import { Partner } from '../../../core/partners/tables/partner.ts'

/** A sandbox endpoint of ours that a partner uses as its own, and how it answers. */
export const Sink = defineEntity({
  name: 'Sink',
  tableName: 'sinks',
  properties: {
    partner: () => p.oneToOne(Partner).owner().primary().deleteRule('restrict'),
    /** The last part of its URL. */
    token: p.text().unique(),
    /** What it answers to a webhook with a valid signature. */
    status: p.integer().default(200),
    /** For how many more webhooks, after which it answers 200; null for all. */
    timesLeft: p.integer().nullable(),
    /** Before it answers. */
    delayMs: p.integer().default(0),
  },
})
