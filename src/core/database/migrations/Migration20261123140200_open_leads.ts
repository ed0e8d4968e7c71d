import { ConcurrentIndex } from '../schema/concurrent-index.ts'

/** For list-leads with `closed`. */
export class Migration20261123140200_open_leads extends ConcurrentIndex {
  protected readonly index = 'leads_open_index'
  protected readonly on = 'leads (partner_id, id) where closed_at is null'
}
