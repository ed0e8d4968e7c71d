/**
 * A login takes these locks by its rights on their tables: see src/core/database/locks/locks.ts. That of migrations, and the function that
 * tries to take one, are made before the first migration.
 */
export const locks = `
create table lock_roles ();
create table lock_sweep ();
create table lock_comparison ();
create table lock_failing_workflows ();
create table lock_retention ();
create table lock_encryption_keys ();
create table lock_dormancy ();

create table lock_slots (
  lock text not null,
  slot int not null,
  primary key (lock, slot)
);
insert into lock_slots (lock, slot)
select lock, slot
from unnest(array['mails_of_address', 'mails_of_partner', 'resends']) as lock, generate_series(0, 255) as slot;

create table leases (
  name text not null primary key,
  token int not null default 0,
  until timestamptz null
);
insert into leases (name)
values ('sweep'), ('comparison'), ('failing_workflows'), ('retention'), ('dormancy');
`
