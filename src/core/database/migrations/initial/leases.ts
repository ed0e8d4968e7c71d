/** The jobs that one process at a time does: see src/core/database/locks/leases.ts. */
export const leases = `
create table leases (
  name text not null primary key,
  token int not null default 0,
  until timestamptz null
);
insert into leases (name)
values ('sweep'), ('comparison'), ('retention');
`
