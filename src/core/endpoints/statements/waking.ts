import type { Sql } from '../../database/sql.ts'

/**
 * The next leads to wake, in the order of their ids, for the round that the endpoint is in: those with open webhooks, and those
 * of which webhooks were left out as it began.
 *
 * @param progress up to which lead those of a round were woken.
 */
export async function nextToWake(
  sql: Sql,
  endpointId: number,
  progress: { round: number; leadId: number },
  limit: number,
): Promise<{ round: number; leadIds: number[] }> {
  const endpoint = await sql
    .selectFrom('endpoints')
    .select(['partner_id', 'round', 'since'])
    .where('id', '=', endpointId)
    .executeTakeFirstOrThrow()
  const { partner_id: partnerId, round, since } = endpoint
  const leads = await sql
    .selectFrom('deliveries')
    .select('lead_id')
    .distinct()
    .where('partner_id', '=', partnerId)
    .where('lead_id', '>', progress.round === round ? progress.leadId : 0)
    .where((eb) =>
      eb.or([
        eb('state', '=', 'pending'),
        eb.and([eb('state', '=', 'canceled'), eb('settled_at', '>=', since)]),
      ]),
    )
    .orderBy('lead_id')
    .limit(limit)
    .execute()
  return { round, leadIds: leads.map((row) => row.lead_id) }
}

/** All leads are woken for that round. */
export async function endWaking(sql: Sql, endpointId: number, round: number): Promise<void> {
  await sql.updateTable('endpoints').set({ woken_round: round }).where('id', '=', endpointId).execute()
}
