import { ConcurrentIndex } from '../concurrent-index.ts'

/** Counts what a partner has done to its endpoint within a day. */
export class Migration20261122044000_audit_of_a_partner extends ConcurrentIndex {
  protected readonly index = 'audit_partner_id_index'
  protected readonly on = 'audit (partner_id, at)'
}
