import { Migration } from '@mikro-orm/migrations'

/** Which leads may be mailed, and when: mails to an address and of a partner are counted. */
export class Migration20261122062100_onboarding_mails extends Migration {
  override up(): void {
    this.addSql(
      `create table "onboarding_mails" ("lead_id" int not null primary key, "partner_id" int not null, "address_hash" text null, "due_at" timestamptz not null, "refused" text null)`,
    )
    this.addSql(
      `alter table "onboarding_mails" add constraint "onboarding_mails_refused_check" check (refused in ('repeated', 'address_limit'))`,
    )
    this.addSql(
      `create index onboarding_mails_address_index on onboarding_mails (address_hash, due_at) where address_hash is not null`,
    )
    this.addSql(
      `create index onboarding_mails_partner_index on onboarding_mails (partner_id, due_at) where refused is null`,
    )
    this.addSql(
      `create index onboarding_mails_counted_index on onboarding_mails (due_at) where address_hash is not null`,
    )
  }
}
