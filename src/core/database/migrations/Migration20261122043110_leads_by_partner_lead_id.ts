import { ConcurrentIndex } from '../concurrent-index.ts'

/** Finds a partner's leads by the partner's own id. */
export class Migration20261122043110_leads_by_partner_lead_id extends ConcurrentIndex {
  protected readonly index = 'leads_partner_lead_id_index'
  protected readonly on = 'leads (partner_id, partner_lead_id, id) where partner_lead_id is not null'
}
