import { defineEntity, p } from '@mikro-orm/core'
import { type AttemptTrigger, attemptTriggers } from '../decisions/delivery.ts'
import { instant, oneOf } from '../../database/columns.ts'
import { LeadEvent } from '../../leads/tables/lead-event.ts'

/** One HTTP request of a delivery, written before it is sent and completed after. */
export const Attempt = defineEntity({
  name: 'Attempt',
  tableName: 'attempts',
  properties: {
    /** `att_<uuidv7>` */
    id: p.text().primary(),
    event: () => p.manyToOne(LeadEvent).deleteRule('restrict'),
    /** Its event's, which has the foreign key: a second one would lock the partner's row for every attempt. */
    partnerId: p.integer(),
    /** 1 for the delivery's first. */
    number: p.integer(),
    trigger: p.text().$type<AttemptTrigger>(),
    /** The endpoint's revision that was called. */
    endpointRevision: p.integer(),
    url: p.text(),
    startedAt: instant().defaultRaw('clock_timestamp()'),
    finishedAt: instant().nullable(),
    durationMs: p.integer().nullable(),
    address: p.text().nullable(),
    status: p.integer().nullable(),
    errorCode: p.text().nullable(),
    hint: p.text().nullable(),
    responseHeaders: p.json<Record<string, string>>().nullable(),
    responseBody: p.text().nullable(),
    /** The `webhook-timestamp` that was sent, and `webhook-signature`; null while it is in progress, or if it was interrupted. */
    signedAt: instant().nullable(),
    signature: p.text().nullable(),
    nextAttemptAt: instant().nullable(),
  },
  checks: [{ name: 'attempts_trigger_check', expression: oneOf('trigger', attemptTriggers) }],
  uniques: [{ name: 'attempts_number_unique', properties: ['event', 'number'] }],
  indexes: [{ name: 'attempts_partner_id_index', properties: ['partnerId', 'id'] }],
})
