import type { Sql } from '../../database/sql.ts'
import { counted, type Retained } from '../../database/retained.ts'
import { freshSince } from './answers.ts'

const BATCH = 500
/** For as long as partners are promised that a repeat gets the stored answer. */
const DAYS = 1

/** Those that no request finds any more. */
const expired = (sql: Sql) => sql.selectFrom('idempotency_keys').where('created_at', '<=', freshSince)

/** A request that takes an expired key anew at this moment keeps it: its row is locked. */
export const oldIdempotencyKeys: Retained<unknown> = {
  name: 'idempotency_keys',
  meaning: 'Idempotency-Keys, with the stored answers: deleted',
  days: () => DAYS,

  count: (sql) => counted(sql, expired(sql).select('created_at as at')),

  async remove(sql) {
    const { numDeletedRows } = await sql
      .deleteFrom('idempotency_keys')
      .where((eb) =>
        eb(
          eb.refTuple('partner_id', 'key'),
          'in',
          expired(sql)
            .select(['partner_id', 'key'])
            .orderBy('created_at')
            .limit(BATCH)
            .forUpdate()
            .skipLocked()
            .$asTuple('partner_id', 'key'),
        ),
      )
      .executeTakeFirstOrThrow()
    return { removed: Number(numDeletedRows), isLast: Number(numDeletedRows) < BATCH }
  },
}
