import { ConcurrentIndex } from '../schema/concurrent-index.ts'

/** For list-leads with `partner_lead_id_prefix`, and as good as the former one for a whole `partner_lead_id`. */
export class Migration20261124150000_prefixes extends ConcurrentIndex {
  protected readonly index = 'leads_partner_lead_id_prefix_index'
  protected readonly on =
    'leads (partner_id, partner_lead_id text_pattern_ops, id) where partner_lead_id is not null'
}
