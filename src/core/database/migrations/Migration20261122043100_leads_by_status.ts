import { ConcurrentIndex } from '../concurrent-index.ts'

/** Finds a partner's leads of one status, newest first. */
export class Migration20261122043100_leads_by_status extends ConcurrentIndex {
  protected readonly index = 'leads_status_index'
  protected readonly on = 'leads (partner_id, status, id)'
}
