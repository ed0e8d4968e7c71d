import { sql as raw } from 'kysely'
import type { Sql } from '../../../../core/database/orm.ts'
import { oneMore } from './faults.ts'

/** The latest score update of a lead that a fault left out: a column of a statement that selects from `leads`. */
export const lastLeftOut = raw<number | null>`(select period from left_out_scores where lead_id = leads.id)`

/**
 * Whether a fault leaves out a score update, once and for all: a repeat is answered the same, also after the fault's end.
 *
 * @param period of the timer's.
 */
export async function leavesOutScore(sql: Sql, leadId: number, period: number): Promise<boolean> {
  const { rows } = await raw`
    with known as (
      select from left_out_scores where lead_id = ${leadId} and period = ${period}
    ), taken as (
      update faults set times_left = times_left - 1,
        happened = ${oneMore({ lead_id: leadId })}
      from (
        select key_id, fault, call from faults
        where partner_id = (select partner_id from leads where id = ${leadId})
          and fault = 'no_scores' and times_left > 0 and ends_at > clock_timestamp() and not exists (select from known)
        order by injected_at limit 1 for update
      ) next
      where faults.key_id = next.key_id and faults.fault = next.fault and faults.call = next.call
      returning 1
    ), kept as (
      insert into left_out_scores (lead_id, period) select ${leadId}::int, ${period}::int from taken
      on conflict (lead_id) do update set period = excluded.period
      returning 1
    )
    select from known union all select from kept`.execute(sql)
  return rows.length > 0
}
