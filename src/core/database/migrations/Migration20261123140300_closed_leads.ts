import { ConcurrentIndex } from '../schema/concurrent-index.ts'

/** For list-leads with `closed`. */
export class Migration20261123140300_closed_leads extends ConcurrentIndex {
  protected readonly index = 'leads_closed_index'
  protected readonly on = 'leads (partner_id, id) where closed_at is not null'
}
