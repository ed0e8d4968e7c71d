import { Migration } from '@mikro-orm/migrations'

/** What a check of a certification tells to change is its hint, as an attempt's is. */
export class Migration20261122064100_certification_hints extends Migration {
  override up(): void {
    this.addSql(`
      update certifications set reports = (
        select jsonb_object_agg(name, report - 'advice' || jsonb_build_object('hint', report -> 'advice'))
        from jsonb_each(reports) as reported (name, report)
      ) where reports <> '{}'`)
  }
}
