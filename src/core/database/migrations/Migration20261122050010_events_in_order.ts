import { ConcurrentIndex } from '../concurrent-index.ts'

/** A partner's events of all leads in the order in which they were committed, generation after generation. */
export class Migration20261122050010_events_in_order extends ConcurrentIndex {
  protected readonly index = 'lead_events_in_order_index'
  protected readonly on = 'lead_events (partner_id, generation, txid, lead_id, position)'
}
