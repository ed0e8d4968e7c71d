import { Migration } from '@mikro-orm/migrations'

const LOCKS = ['roles', 'sweep', 'comparison', 'retention', 'encryption_keys', 'audit']
const KEYED_LOCKS = ['mails_of_address', 'mails_of_partner', 'resends']

/** Locks that a login which may only read cannot take: src/core/database/locks.ts. That of migrations is there before the first one. */
export class Migration20261123050000_locks extends Migration {
  override up(): void {
    for (const lock of LOCKS) this.addSql(`create table "lock_${lock}" ()`)
    this.addSql(
      `create table "lock_slots" ("lock" text not null, "slot" int not null, primary key ("lock", "slot"))`,
    )
    this.addSql(
      `insert into "lock_slots" ("lock", "slot") select "lock", "slot" from unnest(array['${KEYED_LOCKS.join(`', '`)}']) as "lock", generate_series(0, 255) as "slot"`,
    )
  }
}
