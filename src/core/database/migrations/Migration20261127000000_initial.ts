import { Migration } from '@mikro-orm/migrations'
import { audit } from './initial/audit.ts'
import { deliveries } from './initial/deliveries.ts'
import { endpoints } from './initial/endpoints.ts'
import { leads } from './initial/leads.ts'
import { partners } from './initial/partners.ts'
import { record } from './initial/record.ts'
import { retention } from './initial/retention.ts'
import { sandbox } from './initial/sandbox.ts'

/**
 * Everything that the database has: a file for each noun, with its tables, indexes, functions and triggers. The entities say
 * what the columns mean. Like every migration it stays as it is, and so imports nothing that may change.
 */
export class Migration20261127000000_initial extends Migration {
  override up(): void {
    const files = [record, partners, leads, endpoints, deliveries, audit, retention, sandbox]
    for (const statements of files) this.addSql(statements)
  }
}
