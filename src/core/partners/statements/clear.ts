import type { Sql } from '../../database/orm.ts'

/**
 * Clears what a room keeps of a partner of a sandbox beside its leads, when the partner begins again: in the transaction of
 * that request, which has the partner locked and must be short, however much the partner has. It ends what is under way.
 */
export type Clear = (trx: Sql, partnerId: number) => Promise<void>
