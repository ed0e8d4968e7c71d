import { Migration } from '@mikro-orm/migrations'

/** Leads are found by a keyed hash of their email address, which the workers add to those that are there. */
export class Migration20261123200000_email_hashes extends Migration {
  override up(): void {
    this.addSql(`
alter table leads add column email_hash text;
alter table personal_reads drop constraint personal_reads_what_check, add constraint personal_reads_what_check
  check (what in ('get-lead', 'export-lead', 'get-deliveries', 'lead show', 'lead export', 'find by email',
    'find by lead id', 'find by partner_lead_id', 'find by webhook', 'find by request')) not valid;
`)
  }
}
