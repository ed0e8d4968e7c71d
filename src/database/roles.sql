-- The roles of a deployment. "npm run migrate" runs this as the owner of the tables, after each migration.
--
-- referrals_service  the login of API and worker
-- referrals_staff    for people's own logins, with which they run the staff command: grant referrals_staff to ada
--
-- Neither owns anything, so neither changes the schema. A PostgreSQL server shares roles between its databases.

do $$
declare
  named text;
begin
  foreach named in array array['referrals_service login', 'referrals_staff'] loop
    begin
      if to_regrole(split_part(named, ' ', 1)) is null then execute 'create role ' || named; end if;
    exception
      -- another database of this server is migrated at the same time
      when duplicate_object or unique_violation then null;
      when insufficient_privilege then
        raise exception 'the owner may not make roles: have an administrator run create role referrals_service login; create role referrals_staff; and run this again';
    end;
  end loop;
end $$;

grant usage on schema public to referrals_service, referrals_staff;
grant select, insert, update, delete on all tables in schema public to referrals_service, referrals_staff;
-- "record restored" needs update, to skip numbers
grant usage, update on all sequences in schema public to referrals_service, referrals_staff;

revoke insert, update, delete on mikro_orm_migrations from referrals_service, referrals_staff;

-- what happened to a lead stays, and only the service records it
revoke update, delete on lead_events from referrals_service, referrals_staff;
revoke insert on lead_events from referrals_staff;

-- the audit only grows; its number, time and login are PostgreSQL's
revoke insert, update, delete on audit from referrals_service, referrals_staff;
grant insert (actor, action, outcome, begun_id, partner_id, lead_id, detail) on audit
  to referrals_service, referrals_staff;
