import { defineEntity, p } from '@mikro-orm/core'
import { instant, oneOf } from '../../../core/database/columns.ts'
import { Partner } from '../../../core/partners/tables/partner.ts'
import { type SinkFault, sinkFaultNames } from '../decisions/sink-fault.ts'

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
    /** What it does instead of answering at once and as a whole. */
    fault: p.text().$type<SinkFault>().nullable(),
    /** In seconds: what its `Retry-After` says. */
    retryAfter: p.integer().nullable(),
    /** When it answers 200 again, whatever is left; null for never. */
    endsAt: instant().nullable(),
  },
  checks: [{ name: 'sinks_fault_check', expression: oneOf('fault', sinkFaultNames) }],
})
