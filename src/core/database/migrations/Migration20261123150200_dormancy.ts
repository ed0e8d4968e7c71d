import { Migration } from '@mikro-orm/migrations'

const REASONS = `'withdrew', 'unreachable', 'ineligible', 'financed_elsewhere', 'duplicate', 'mistake', 'other',
    'mortgage_ready', 'canceled', 'erased', 'dormant'`

/** Leads in which nothing happens are closed. The next migration checks what is there. */
export class Migration20261123150200_dormancy extends Migration {
  override up(): void {
    this.addSql(`
alter table leads
  drop constraint leads_close_reason_check,
  add constraint leads_close_reason_check check (close_reason in (
    ${REASONS}
  )) not valid;
alter table closings
  alter column due_at drop not null,
  add column idle_since timestamptz,
  drop constraint closings_reason_check,
  add constraint closings_reason_check check (reason in (
    ${REASONS}
  )),
  add constraint closings_due_check check (due_at is not null or idle_since is not null);
alter table partners
  add column dormant_after_days int
    constraint partners_dormant_after_days_check check (dormant_after_days >= 0);
create table dormancy_digests (
  partner_id int
    constraint dormancy_digests_partner_id_foreign references partners on delete restrict,
  month text,
  made_at timestamptz not null default clock_timestamp(),
  leads int not null,
  sent_at timestamptz,
  primary key (partner_id, month)
);
create table lock_dormancy ();
`)
  }
}
