import { defineEntity, p } from '@mikro-orm/core'
import { instant } from '../../../core/database/columns.ts'
import { Partner } from '../../../core/partners/tables/partner.ts'
import type { SinkFault } from '../decisions/sink-fault.ts'

/** A request that arrived at a sink: the last hundred of each are kept. */
export const SinkWebhook = defineEntity({
  name: 'SinkWebhook',
  tableName: 'sink_webhooks',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    partner: () => p.manyToOne(Partner).deleteRule('restrict'),
    receivedAt: instant().defaultRaw('clock_timestamp()'),
    webhookId: p.text(),
    /** Counts those with the same id, whose earlier ones may be forgotten by now. */
    attempt: p.integer(),
    headers: p.json<Record<string, string>>(),
    body: p.text(),
    /** Why its signature is not valid; null if it is. */
    problem: p.text().nullable(),
    status: p.integer(),
    delayMs: p.integer(),
    /** What it did instead of answering at once and as a whole. */
    fault: p.text().$type<SinkFault>().nullable(),
  },
  indexes: [{ name: 'sink_webhooks_partner_index', properties: ['partner', 'id'] }],
})
