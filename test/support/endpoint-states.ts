import { sql as raw } from 'kysely'
import { pauseOrResume } from '../../src/endpoints/pause-endpoint.ts'
import type { Sql } from '../../src/database/sql.ts'
import type { Service, TestPartner } from './service.ts'
import { until } from './until.ts'

/** As staff do. */
export const pauseEndpoint = (sql: Sql, partnerId: number) => pauseOrResume(sql, partnerId, 'staff')
export const resumeEndpoint = (sql: Sql, partnerId: number) => pauseOrResume(sql, partnerId, 'resumed')

/** Puts endpoints into a state as if it had always been so: nobody is told or woken, and no round begins. The next probe is in an hour. */
export async function putEndpoints(
  sql: Sql,
  state: 'active' | 'paused',
  { partnerId, by = 'staff' }: { partnerId?: number; by?: 'staff' | 'service' } = {},
): Promise<void> {
  const pausedBy = state === 'paused' ? by : null
  await sql
    .updateTable('endpoints')
    .set({ state, paused_by: pausedBy, reason: pausedBy, failing_since: null })
    .$if(state === 'active', (query) => query.set({ since: new Date(0) }))
    .set((eb) => ({ woken_round: eb.ref('round') }))
    .set({ next_probe_at: pausedBy === 'service' ? new Date(Date.now() + 3_600_000) : null })
    .$if(partnerId !== undefined, (query) => query.where('partner_id', '=', partnerId ?? 0))
    .execute()
}

/** A partner's endpoint as a test looks at it and moves its time. */
export function endpointOf({ sql, client }: Service, { id: partnerId }: TestPartner) {
  const row = () =>
    sql.selectFrom('endpoints').selectAll().where('partner_id', '=', partnerId).executeTakeFirstOrThrow()
  const probes = () =>
    sql
      .selectFrom('attempts')
      .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
      .select(['attempts.status', 'attempts.started_at', 'deliveries.lead_id', 'deliveries.sequence'])
      .where('deliveries.partner_id', '=', partnerId)
      .where('attempts.trigger', '=', 'probe')
      .where('attempts.finished_at', 'is not', null)
      .orderBy('attempts.started_at')
      .execute()
  return {
    row,
    probes,
    is: (state: 'active' | 'paused') => until(async () => (await row()).state === state),
    workflow: client.workflow.getHandle(`endpoint-${partnerId}`),
    /** Lets so much time pass for the endpoint's health. */
    async age(interval: string) {
      const by = raw<Date>`${interval}::interval`
      await sql
        .updateTable('endpoints')
        .set({ since: raw<Date>`since - ${by}`, failing_since: raw<Date>`failing_since - ${by}` })
        .where('partner_id', '=', partnerId)
        .execute()
    },
    /** Lets the time pass until the next attempt of each delivery is due. */
    async makeDue() {
      await sql
        .updateTable('deliveries')
        .set({ next_attempt_at: raw<Date>`now()` })
        .where('partner_id', '=', partnerId)
        .where('state', '=', 'pending')
        .execute()
    },
    open: async () => {
      const deliveries = sql.selectFrom('deliveries').select('event_id').where('partner_id', '=', partnerId)
      return (await deliveries.where('state', '=', 'pending').execute()).length
    },
  }
}
