import { Migration } from '@mikro-orm/migrations'

/** Whose record the database holds, so that no other environment and no other namespace works on it. */
export class Migration20261121201000_deployment extends Migration {
  override up(): void {
    this.addSql(
      `create table "deployment" ("id" uuid not null, "environment" text not null, "created_at" timestamptz not null default now(), primary key ("id"))`,
    )
    this.addSql(
      `alter table "deployment" add constraint "deployment_environment_check" check (environment in ('sandbox', 'production'))`,
    )
    this.addSql(`create unique index deployment_only_one_index on deployment ((true))`)
  }
}
