import { ConcurrentIndex } from '../concurrent-index.ts'

/** A partner's latest attempts: their ids are in the order of time. */
export class Migration20261122041010_attempts_by_partner extends ConcurrentIndex {
  protected readonly index = 'attempts_partner_id_index'
  protected readonly on = 'attempts (partner_id, id)'
}
