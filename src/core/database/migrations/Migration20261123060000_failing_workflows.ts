import { Migration } from '@mikro-orm/migrations'

/** Workflows whose task fails, as the workers noticed them. */
export class Migration20261123060000_failing_workflows extends Migration {
  override up(): void {
    this.addSql(`create table "lock_failing_workflows" ()`)
    this.addSql(
      `create table "failing_workflows" ("workflow_id" text not null primary key, "run_id" text not null, "type" text not null, "failure" text not null, "failed_on" text not null, "since" timestamptz not null, "checked_at" timestamptz not null default clock_timestamp(), "told_at" timestamptz null)`,
    )
    this.addSql(`create index "failing_workflows_checked_at_index" on "failing_workflows" ("checked_at")`)
  }
}
