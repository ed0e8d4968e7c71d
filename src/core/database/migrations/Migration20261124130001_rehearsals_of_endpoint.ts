import { ConcurrentIndex } from '../schema/concurrent-index.ts'

export class Migration20261124130001_rehearsals_of_endpoint extends ConcurrentIndex {
  protected readonly index = 'certifications_rehearsed_endpoint_id_index'
  protected readonly on = 'certifications (rehearsed_endpoint_id)'
}
