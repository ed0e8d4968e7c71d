import { ConcurrentIndex } from '../schema/concurrent-index.ts'

/** Those that have no hash yet, and those that a process of an older version erased, which left theirs. */
export class Migration20261123200003_leads_to_hash extends ConcurrentIndex {
  protected readonly index = 'leads_to_hash_index'
  protected readonly on = 'leads (id) where (personal is null) <> (email_hash is null)'
}
