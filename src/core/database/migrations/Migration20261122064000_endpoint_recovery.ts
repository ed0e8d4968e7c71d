import { Migration } from '@mikro-orm/migrations'

/** An endpoint that failed works since its first success, not since it was set. */
export class Migration20261122064000_endpoint_recovery extends Migration {
  override up(): void {
    this.addSql(`alter table "endpoints" add column "recovered_at" timestamptz null`)
  }
}
