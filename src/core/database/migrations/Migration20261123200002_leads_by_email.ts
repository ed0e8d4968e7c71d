import { ConcurrentIndex } from '../schema/concurrent-index.ts'

export class Migration20261123200002_leads_by_email extends ConcurrentIndex {
  protected readonly index = 'leads_email_hash_index'
  protected readonly on = 'leads (email_hash, id) where email_hash is not null'
}
