import { ConcurrentIndex } from '../schema/concurrent-index.ts'

/** One rehearsal of an endpoint at a time. */
export class Migration20261124130002_rehearsing extends ConcurrentIndex {
  protected override readonly kind = 'unique index'
  protected readonly index = 'certifications_rehearsing_unique'
  protected readonly on = 'certifications (rehearsed_endpoint_id) where result is null'
}
