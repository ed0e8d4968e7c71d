import { Migration } from '@mikro-orm/migrations'

/**
 * Erasures and closings that people were told of are told of again in another generation: that one was canceled, or its lead
 * held, may be lost. A trigger, because whoever raises the generation must do this before anybody goes on with the record.
 */
export class Migration20261126110000_told_again_after_restore extends Migration {
  override up(): void {
    this.addSql(`
create function tell_again() returns trigger language plpgsql as $$
begin
  update erasures set told_at = null, started_at = null
  where is_announced and canceled_at is null and erased_at is null;
  -- a date of one in which nothing happens begins with its email
  update closings set told_at = null, started_at = null, due_at = case when idle_since is null then due_at end
  where is_announced and canceled_at is null and begun_at is null and ended_at is null;
  return null;
end $$;`)
    this.addSql('create trigger restores_tell_again after insert on restores execute function tell_again()')
  }
}
