import { Migration } from '@mikro-orm/migrations'

/** Which revision of an endpoint an attempt called, who paused an endpoint, and where a delivery's schedule began anew. */
export class Migration20261121200500_endpoint_revision extends Migration {
  override up(): void {
    this.addSql(`alter table "endpoints" add column "revision" int not null default 1`)
    this.addSql(`alter table "endpoints" add column "paused_by" text null`)
    this.addSql(
      `update endpoints set paused_by = case reason when 'staff' then 'staff' else 'service' end where state = 'paused'`,
    )
    this.addSql(
      `alter table "endpoints" add constraint "endpoints_paused_by_check" check (paused_by in ('staff', 'partner', 'service'))`,
    )
    this.addSql(
      `alter table "endpoints" add constraint "endpoints_paused_check" check ((state = 'paused') = (paused_by is not null))`,
    )
    // those under way were sent to the endpoint as it is
    this.addSql(`alter table "attempts" add column "endpoint_revision" int not null default 1`)
    this.addSql(`alter table "attempts" alter column "endpoint_revision" drop default`)
    this.addSql(`alter table "deliveries" add column "ninth_attempt_at" timestamptz null`)
    this.addSql(
      `update deliveries set ninth_attempt_at = (
        select started_at from attempts
        where attempts.event_id = deliveries.event_id and trigger = 'scheduled'
          and error_code is distinct from 'interrupted'
        order by number offset 8 limit 1
      ) where state = 'pending' and failures >= 9`,
    )
  }
}
