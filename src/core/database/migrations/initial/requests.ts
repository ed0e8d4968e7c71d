/** What partners asked of the API: a row for each request. */
export const requests = `
create table requests (
  partner_id int,
  id uuid,
  key_id int not null,
  call text not null,
  status smallint not null,
  error_code text,
  fields text[] not null default '{}',
  lead_id int,
  duration_ms int not null,
  primary key (partner_id, id)
);
`
