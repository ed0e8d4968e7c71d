import { defineEntity, p } from '@mikro-orm/core'
import { type DeliveryState, deliveryStates } from '../decisions/delivery.ts'
import { instant, oneOf } from '../../database/columns.ts'
import { LeadEvent } from '../../leads/tables/lead-event.ts'
import { Lead } from '../../leads/tables/lead.ts'
import { Partner } from '../../partners/tables/partner.ts'

/** One event to the partner's endpoint; its attempts are its HTTP requests. */
export const Delivery = defineEntity({
  name: 'Delivery',
  tableName: 'deliveries',
  properties: {
    event: () => p.oneToOne(LeadEvent).owner().primary().deleteRule('restrict'),
    lead: () => p.manyToOne(Lead).deleteRule('restrict'),
    partner: () => p.manyToOne(Partner).deleteRule('restrict'),
    sequence: p.integer(),
    /** The request body, byte for byte the same on every attempt. */
    body: p.text(),
    state: p.text().$type<DeliveryState>().default('pending'),
    /** The endpoint's round in which it failed last; 0 if it has not. */
    round: p.integer().default(0),
    /** The place in the retry schedule, in that round. */
    failures: p.integer().default(0),
    nextAttemptAt: instant(),
    /** When the schedule's last attempt but one was made; null before it. */
    lastButOneAt: instant().nullable(),
    /** The attempt that may settle this delivery, until `leasedUntil`. */
    lease: p.text().nullable(),
    leasedUntil: instant().nullable(),
    /** How many of the latest attempts in a row did not come to their end. */
    interruptions: p.integer().default(0),
    settledAt: instant().nullable(),
    /** Since when a settled delivery waits to be sent once more. */
    resendRequestedAt: instant().nullable(),
    /** Why its latest attempt could not begin, for staff; null since one began. */
    fault: p.text().nullable(),
    /** The partner's request that caused the event; null for what happened without one. */
    requestId: p.uuid().nullable(),
  },
  checks: [
    { name: 'deliveries_state_check', expression: oneOf('state', deliveryStates) },
    { name: 'deliveries_sequence_check', expression: 'sequence >= 1 and failures >= 0' },
    { name: 'deliveries_settled_check', expression: "(state = 'pending') = (settled_at is null)" },
    { name: 'deliveries_lease_check', expression: '(lease is null) = (leased_until is null)' },
  ],
  uniques: [{ name: 'deliveries_sequence_unique', properties: ['lead', 'sequence'] }],
  indexes: [
    { name: 'deliveries_state_index', properties: ['state', 'partner', 'event'] },
    {
      name: 'deliveries_open_index',
      expression: `create index deliveries_open_index on deliveries (partner_id, next_attempt_at) where state = 'pending'`,
    },
  ],
})
