import { sql as raw } from 'kysely'
import { takeLock } from '../../database/locks/locks.ts'
import type { Sql } from '../../database/sql.ts'
import { keyId } from '../seal.ts'

/**
 * What `keys` lack to read all that is sealed, in one line that says what to do; `undefined` if nothing. Then the first of
 * them is noted as in use: a process seals nothing before, so that one with a wrong key is found out before it does.
 */
export async function lackingKeys(sql: Sql, keys: readonly Buffer[]): Promise<string | undefined> {
  const { remedy, unknown } = await compareKeys(sql, keys)
  if (unknown === undefined) return remedy
  return sql.transaction().execute(async (trx) => {
    // of two processes that begin with different keys, one finds out
    await takeLock(trx, 'encryption_keys')
    const again = await compareKeys(trx, keys)
    if (again.unknown !== undefined) await noteKey(trx, again.unknown)
    return again.remedy
  })
}

/**
 * What `keys` lack to read all that is sealed, and nothing is noted; otherwise the first of them, if no process seals with
 * it yet.
 */
export async function compareKeys(
  sql: Sql,
  keys: readonly Buffer[],
): Promise<{ remedy?: string; unknown?: string; isFirst?: boolean }> {
  const ours = keys.map(keyId)
  const known = await keysInUse(sql)
  const lacking = known.filter((id) => !ours.includes(id))
  if (lacking.length > 0) return { remedy: remedyFor(lacking) }
  const [newest] = ours
  return newest === undefined || known.includes(newest)
    ? {}
    : { unknown: newest, isFirst: known.length === 0 }
}

function remedyFor(lacking: string[]): string {
  const keys = lacking.length === 1 ? `the key ${lacking[0]}` : `the keys ${lacking.join(', ')}`
  return `ENCRYPTION_KEY lacks ${keys}, under which data is stored: add it after the current one, separated by a comma; if it is lost, run npm run staff -- encryption forget ${lacking[0]}`
}

/** Keys under which values may be sealed. */
export async function keysInUse(sql: Sql): Promise<string[]> {
  const rows = await sql.selectFrom('encryption_keys').select('id').where('retired_at', 'is', null).execute()
  return rows.map(({ id }) => id).toSorted()
}

/** Notes that values are sealed under this key from now on. */
export async function noteKey(sql: Sql, id: string): Promise<void> {
  await sql
    .insertInto('encryption_keys')
    .values({ id })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ retired_at: null }))
    .execute()
}

/** Processes start without these keys from now on. */
export async function retireKeys(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await sql
    .updateTable('encryption_keys')
    .set({ retired_at: raw<Date>`clock_timestamp()` })
    .where('id', 'in', ids)
    .where('retired_at', 'is', null)
    .execute()
}
