import { sql as raw } from 'kysely'
import type { Sql } from '../../database/orm.ts'
import { SealError } from '../../sealing/seal.ts'
import { hashOfBorrower, openBorrower } from './sealed-lead.ts'

/** A lead without the hash of its email address, or one that was erased and still has it. It is in an index of its own. */
const isToHash = raw<boolean>`((personal is null) <> (email_hash is null))`

interface Hashed {
  /** The last lead that was looked at; `undefined` if there was none. */
  last: number | undefined
  hashed: number
}

/**
 * Adds the hash of their email address to leads after `afterId` that have none, `limit` at most, and empties that of leads
 * that were erased by a process which knew of none. A lead that somebody else changes meanwhile, or whose key is missing, is
 * left for the next time.
 */
export async function hashEmails(
  sql: Sql,
  encryptionKeys: readonly Buffer[],
  { afterId, limit }: { afterId: number; limit: number },
): Promise<Hashed> {
  return sql.transaction().execute(async (trx) => {
    const leads = await trx
      .selectFrom('leads')
      .select(['id', 'personal'])
      .where(isToHash)
      .where('id', '>', afterId)
      .orderBy('id')
      .limit(limit)
      .forNoKeyUpdate()
      .skipLocked()
      .execute()
    const hashes = leads.flatMap(({ id, personal }) => {
      const hash = hashOf(id, personal, encryptionKeys)
      return hash === undefined ? [] : [{ id, hash }]
    })
    await raw`
      update leads set email_hash = known.hash
      from unnest(${hashes.map(({ id }) => id)}::int[], ${hashes.map(({ hash }) => hash)}::text[]) as known (id, hash)
      where leads.id = known.id`.execute(trx)
    return { last: leads.at(-1)?.id, hashed: hashes.length }
  })
}

/** `null` for a lead that was erased, `undefined` where it cannot be told. */
function hashOf(id: number, personal: string | null, keys: readonly Buffer[]): string | null | undefined {
  if (personal === null) return null
  try {
    return hashOfBorrower(openBorrower(id, personal, keys), personal, keys)
  } catch (error) {
    if (error instanceof SealError) return undefined
    throw error
  }
}

/** Whether there are leads that cannot be found by their email address: their key is missing, or no worker came to them yet. */
export async function someAreUnhashed(sql: Sql): Promise<boolean> {
  const lead = sql.selectFrom('leads').select('id').where(isToHash).where('personal', 'is not', null).limit(1)
  return (await lead.executeTakeFirst()) !== undefined
}
