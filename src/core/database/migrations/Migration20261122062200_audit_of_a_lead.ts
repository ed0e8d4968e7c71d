import { ConcurrentIndex } from '../concurrent-index.ts'

/** For the export of a lead. */
export class Migration20261122062200_audit_of_a_lead extends ConcurrentIndex {
  protected override readonly index = 'audit_lead_id_index'
  protected override readonly on = 'audit (lead_id, id) where lead_id is not null'
}
