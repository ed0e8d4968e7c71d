import type { Clear } from '../../../core/partners/statements/clear.ts'

/** Removes the certifications and test requests of a partner's endpoint, which is locked. Those that run end by themselves. */
export const clearRequests: Clear = async (trx, partnerId) => {
  const endpoints = trx.selectFrom('endpoints').select('id').where('partner_id', '=', partnerId)
  const changes = trx.selectFrom('endpoint_changes').select('id').where('endpoint_id', 'in', endpoints)
  await trx.deleteFrom('certifications').where('change_id', 'in', changes).execute()
  await trx.deleteFrom('endpoint_pings').where('endpoint_id', 'in', endpoints).execute()
}
