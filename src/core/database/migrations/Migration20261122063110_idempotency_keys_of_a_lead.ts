import { ConcurrentIndex } from '../concurrent-index.ts'

/** The key with which a lead was created, for its erasure. */
export class Migration20261122063110_idempotency_keys_of_a_lead extends ConcurrentIndex {
  protected readonly index = 'idempotency_keys_lead_id_index'
  protected readonly on = 'idempotency_keys (lead_id)'
}
