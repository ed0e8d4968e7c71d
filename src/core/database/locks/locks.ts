import { sql as raw } from 'kysely'
import { isLockTimeout } from '../database-away.ts'
import type { Sql } from '../sql.ts'

/** What has no row to lock, in the order in which a transaction takes more than one. */
export const locks = [
  /** While migrations are applied, or roles get their rights. */
  'migration',
  /** While a process notes the encryption key that it begins to use. */
  'encryption_keys',
  /** Of a hash of an address. */
  'mails_of_address',
] as const
export type Lock = (typeof locks)[number]

/**
 * Holds a lock until the transaction ends, of one key if given. What it protects is read by a later statement. It gives the
 * transaction no id, which list-events would wait for.
 *
 * @throws {Error} which lock it is, if it is held for longer than the session's `lock_timeout`; tell by `isLockTimeout`.
 */
export async function takeLock(trx: Sql, lock: Lock, key: string | number = ''): Promise<void> {
  await raw`select pg_advisory_xact_lock(hashtext(${lock}), hashtext(${String(key)}))`
    .execute(trx)
    .catch((error: unknown) => {
      if (!isLockTimeout(error)) throw error
      throw new Error(`another process holds the lock "${lock}"`, { cause: error })
    })
}
