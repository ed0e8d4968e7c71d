import { Migration } from '@mikro-orm/migrations'

/** The record may go back: what is written after that is of another generation. */
export class Migration20261122050000_generations extends Migration {
  override up(): void {
    this.addSql(
      `alter table "deployment" add column "generation" int not null default 1, add column "system_identifier" text null, add column "timeline" int null, add column "alive_at" timestamptz null`,
    )
    this.addSql(`alter table "leads" add column "generation" int not null default 1`)
    this.addSql(`alter table "lead_events" add column "generation" int not null default 1`)
    this.addSql(
      `create table "restores" ("generation" int not null primary key, "at" timestamptz not null default clock_timestamp(), "cause" text not null, "reached_until" timestamptz null, "finished_at" timestamptz null, constraint "restores_cause_check" check (cause in ('system_identifier', 'timeline', 'workflow', 'staff')))`,
    )
    this.addSql(
      `create table "losses" ("generation" int not null, "lead_id" int not null, "dedupe_key" text not null, "partner_id" int not null, "event_name" text null, "happened_at" timestamptz null, "is_recorded_again" boolean not null, "noticed_at" timestamptz not null default clock_timestamp(), primary key ("generation", "lead_id", "dedupe_key"))`,
    )
    this.addSql(`create index "losses_partner_id_index" on "losses" ("partner_id")`)
  }
}
