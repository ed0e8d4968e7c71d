import { Migration } from '@mikro-orm/migrations'

/** Whose endpoint an attempt called, for the figures of that endpoint. */
export class Migration20261122041000_attempts_of_a_partner extends Migration {
  override up(): void {
    this.addSql(`alter table "attempts" add column "partner_id" int null`)
    this.addSql(
      `update attempts set partner_id = deliveries.partner_id from deliveries where deliveries.event_id = attempts.event_id`,
    )
    this.addSql(`alter table "attempts" alter column "partner_id" set not null`)
  }
}
