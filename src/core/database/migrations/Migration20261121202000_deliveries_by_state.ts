import { ConcurrentIndex } from '../concurrent-index.ts'

/** Deliveries in a rare state, the newest first, without reading all others of the partner. */
export class Migration20261121202000_deliveries_by_state extends ConcurrentIndex {
  protected readonly index = 'deliveries_state_index'
  protected readonly on = 'deliveries (state, partner_id, event_id)'
}
