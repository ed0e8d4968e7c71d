import { Migration } from '@mikro-orm/migrations'

/** A lead of a population stays one once the population is forgotten. The next migration checks what is there. */
export class Migration20261124150000_made_up_leads extends Migration {
  override up(): void {
    this.addSql(`
alter table population_leads
  alter column population_id drop not null,
  drop constraint population_leads_population_id_foreign,
  add constraint population_leads_population_id_foreign
    foreign key (population_id) references populations on delete set null not valid
`)
  }
}
