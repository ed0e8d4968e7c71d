import { sql as raw } from 'kysely'
import { LEASE_MS } from '../../../core/deliveries/decisions/delivery.ts'
import type { Certificate } from '../decisions/erasure.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { countLeft, emptyAddresses, emptyAttempts, NO_ROWS } from './empty.ts'

const HOW = 'the rows of each table were read again and counted after every request in flight had ended'

/**
 * Reads back what is left of erased leads, and adds it to their certificates. A webhook that was on its way when its lead was
 * erased still writes down what the endpoint answered: that is emptied here.
 *
 * @returns the leads of which something is left, or may still come: their requests are in flight.
 */
export async function checkErasures(sql: Sql, leadIds: readonly number[]): Promise<number[]> {
  if (leadIds.length === 0) return []
  return sql.transaction().execute(async (trx) => {
    const inFlight = await leadsInFlight(trx, leadIds)
    await emptyAttempts(trx, leadIds)
    await emptyAddresses(trx, leadIds)
    const leftOf = await countLeft(trx, leadIds)
    const isClean = (leadId: number) =>
      !inFlight.has(leadId) && Object.values(leftOf(leadId)).every((count) => count === 0)
    const clean = leadIds.filter(isClean)
    await noteChecked(trx, clean)
    return leadIds.filter((leadId) => !isClean(leadId))
  })
}

/** Leads with an attempt that may still end: one without an end that is older was cut off by a crash. */
async function leadsInFlight(trx: Sql, leadIds: readonly number[]): Promise<Set<number>> {
  const rows = await trx
    .selectFrom('deliveries')
    .innerJoin('attempts', 'attempts.event_id', 'deliveries.event_id')
    .select('deliveries.lead_id')
    .distinct()
    .where('deliveries.lead_id', 'in', leadIds)
    .where('finished_at', 'is', null)
    .where('started_at', '>', raw<Date>`clock_timestamp() - ${LEASE_MS} * interval '1 millisecond'`)
    .execute()
  return new Set(rows.map(({ lead_id: leadId }) => leadId))
}

async function noteChecked(trx: Sql, leadIds: readonly number[]): Promise<void> {
  if (leadIds.length === 0) return
  const checked: Certificate['checked'] = { at: new Date().toISOString(), how: HOW, left: NO_ROWS }
  await trx
    .updateTable('erasures')
    .set({
      checked_at: raw<Date>`clock_timestamp()`,
      certificate: raw<Certificate>`certificate || ${JSON.stringify({ checked })}::jsonb`,
    })
    .where('lead_id', 'in', leadIds)
    .where('canceled_at', 'is', null)
    .where('checked_at', 'is', null)
    .execute()
}
