import { ConcurrentIndex } from '../concurrent-index.ts'

/** Leads that ended and are not erased, by when they ended. */
export class Migration20261122063100_leads_ended extends ConcurrentIndex {
  protected readonly index = 'leads_ended_index'
  protected readonly on =
    'leads (closed_at, id) where closed_at is not null and erased_at is null and held_at is null'
}
