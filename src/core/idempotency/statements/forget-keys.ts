import { sql as raw } from 'kysely'
import type { Clear } from '../../partners/statements/clear.ts'

/** So many take a fifth of a second. Those of more leads go with their leads. */
const MOST = 10_000

/** Forgets a partner's keys, which are found once, whatever PostgreSQL knows of the table. One that is locked goes with the lead that is being erased. */
export const forgetKeys: Clear = async (trx, partnerId) => {
  await raw`
    delete from idempotency_keys where partner_id = ${partnerId} and key = any (array(
      select key from idempotency_keys where partner_id = ${partnerId}
      order by lead_id desc limit ${MOST} for update skip locked
    ))`.execute(trx)
}
