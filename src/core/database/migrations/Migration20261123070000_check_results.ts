import { Migration } from '@mikro-orm/migrations'

/** A check has a result with three values in the place of `passed`. */
export class Migration20261123070000_check_results extends Migration {
  override up(): void {
    this.addSql(`update "certifications" set "reports" = (
        select jsonb_object_agg(key, value - 'passed' || jsonb_build_object(
          'result', case when (value ->> 'passed')::boolean then 'passed' else 'failed' end))
        from jsonb_each("reports"))
      where "reports" <> '{}'`)
  }
}
