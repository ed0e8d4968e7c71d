import { Migration } from '@mikro-orm/migrations'

/** When a paused endpoint is probed next, and since which revision an endpoint has its URL. */
export class Migration20261122041020_endpoint_health extends Migration {
  override up(): void {
    this.addSql(`alter table "endpoints" add column "next_probe_at" timestamptz null`)
    this.addSql(`alter table "endpoints" add column "url_revision" int not null default 1`)
  }
}
