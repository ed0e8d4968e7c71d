import { Migration } from '@mikro-orm/migrations'

/** The webhook `lead.closed`: a row of events that is not in the history. The next migration checks what is there. */
export class Migration20261123150100_closed_webhooks extends Migration {
  override up(): void {
    this.addSql(`
alter table lead_events
  alter column position drop not null,
  drop constraint lead_events_event_name_check,
  add constraint lead_events_event_name_check check (event_name in (
    'lead_received', 'client_account_created', 'credit_scan_completed', 'client_engaged_in_chat', 'contract_signed',
    'escrow_funded', 'score_update', 'mortgage_ready', 'lead.closed'
  )) not valid,
  add constraint lead_events_history_check check ((position is null) = (event_name = 'lead.closed')) not valid;
alter table endpoints add column is_told_of_closing boolean not null default false;
`)
  }
}
