/** Workflows whose task fails, as the workers noticed them. */
export const workflows = `
create table failing_workflows (
  workflow_id text primary key,
  run_id text not null,
  type text not null,
  failure text not null,
  failed_on text not null,
  since timestamptz not null,
  checked_at timestamptz not null default clock_timestamp(),
  told_at timestamptz
);
create index failing_workflows_checked_at_index on failing_workflows (checked_at);
`
