import { Migration } from '@mikro-orm/migrations'

/** Keys of calls beside create-lead: they belong to no lead, and their answers may have a secret. */
export class Migration20261123160100_answers extends Migration {
  override async up(): Promise<void> {
    this.addSql('alter table idempotency_keys alter column lead_id drop not null, add column secret_at text;')
  }
}
