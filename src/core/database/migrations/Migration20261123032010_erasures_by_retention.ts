import { ConcurrentIndex } from '../concurrent-index.ts'

/** What retention erased within a day. */
export class Migration20261123032010_erasures_by_retention extends ConcurrentIndex {
  protected readonly index = 'erasures_by_retention_index'
  protected readonly on = `erasures (erased_at) where erased_by = 'retention'`
}
