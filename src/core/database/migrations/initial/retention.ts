/** How far retention has come. */
export const retention = `
create table retention_runs (
  class text primary key,
  ran_at timestamptz,
  removed int not null default 0,
  done_up_to text not null default ''
);
`
