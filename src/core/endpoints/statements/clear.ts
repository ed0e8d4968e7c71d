import { sql as raw } from 'kysely'
import type { Clear } from '../../partners/statements/clear.ts'
import type { EndpointPauser } from '../decisions/endpoint.ts'
import { lockEndpoint } from './endpoint.ts'
import { nextRevision } from './states.ts'

const isStaffs = raw`endpoints.paused_by = 'staff'`

/** Makes a partner's endpoint as it was before it had a URL. What staff paused, staff have to resume. */
export const clearEndpoint: Clear = async (trx, partnerId) => {
  const endpoint = await lockEndpoint(trx, partnerId)
  if (endpoint === undefined) return
  await trx.deleteFrom('endpoint_secrets').where('endpoint_id', '=', endpoint.id).execute()
  await trx
    .updateTable('endpoints')
    .set({
      url: null,
      state: 'paused',
      reason: raw<string>`case when ${isStaffs} then endpoints.reason else 'no_endpoint' end`,
      paused_by: raw<EndpointPauser>`case when ${isStaffs} then 'staff' else 'service' end`,
      revision: nextRevision,
      url_revision: nextRevision,
      since: raw<Date>`clock_timestamp()`,
      failing_since: null,
      recovered_at: null,
      blocked_until: null,
      paced_until: null,
      incident: null,
      is_told_of_closing: false,
      next_probe_at: null,
    })
    .where('id', '=', endpoint.id)
    .execute()
}

/** Removes the changes of a partner's endpoint, which is locked: an open one never takes effect. */
export const clearChanges: Clear = async (trx, partnerId) => {
  await trx
    .deleteFrom('endpoint_changes')
    .where('endpoint_id', '=', (eb) =>
      eb.selectFrom('endpoints').select('id').where('partner_id', '=', partnerId),
    )
    .execute()
}
