import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'
import type { SealAt } from '../../sealing/seal.ts'
import { addSecret } from './secrets.ts'

/** What an endpoint's row has while no URL is to be certified. */
export const noCandidate = {
  candidate: null,
  candidate_url: null,
  candidate_at: null,
  certification: null,
}

/**
 * Stores a URL that a partner is to certify, with a secret of its own, in the place of an earlier one. The caller's
 * transaction has the endpoint locked.
 *
 * @returns the candidate's number: the id of its secret.
 */
export async function setCandidate(
  trx: Sql,
  endpointId: number,
  { url, secret }: { url: string; secret: SealAt },
): Promise<number> {
  const candidate = await addSecret(trx, endpointId, secret, 'unused')
  await trx
    .updateTable('endpoints')
    .set({ ...noCandidate, candidate, candidate_url: url, candidate_at: raw<Date>`clock_timestamp()` })
    .where('id', '=', endpointId)
    .execute()
  return candidate
}

/** Answers whether there was one. */
export async function dropCandidate(sql: Sql, endpointId: number): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable('endpoints')
    .set(noCandidate)
    .where('id', '=', endpointId)
    .where('candidate', 'is not', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
