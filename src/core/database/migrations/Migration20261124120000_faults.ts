import { Migration } from '@mikro-orm/migrations'

/** Faults that partners ask for in a sandbox, there and at their sinks. */
export class Migration20261124120000_faults extends Migration {
  override up(): void {
    this.addSql(`
create table faults (
  key_id int not null
    constraint faults_key_id_foreign references api_keys on delete restrict,
  fault text not null
    constraint faults_fault_check check (fault in ('rate_limited', 'internal_error', 'unavailable', 'hangs',
      'answer_lost', 'key_expired', 'no_scores')),
  call text not null,
  partner_id int not null
    constraint faults_partner_id_foreign references partners on delete restrict,
  times int not null,
  times_left int not null,
  retry_after int,
  happened jsonb not null default '[]',
  injected_at timestamptz not null default clock_timestamp(),
  ends_at timestamptz not null,
  primary key (key_id, fault, call)
);
create index faults_partner_index on faults (partner_id, fault);

create table left_out_scores (
  lead_id int primary key
    constraint left_out_scores_lead_id_foreign references leads on update cascade on delete cascade,
  period int not null
);

alter table sinks add column fault text
    constraint sinks_fault_check check (fault in ('resets', 'answers_half', 'answers_slowly')),
  add column retry_after int,
  add column ends_at timestamptz;
alter table sink_webhooks add column fault text;
`)
  }
}
