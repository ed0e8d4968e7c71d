import { sql as raw } from 'kysely'
import { isLockTimeout } from '../database-away.ts'
import type { Sql } from '../../../tables.ts'

/**
 * Every lock of the service that is held by a transaction and is not the lock of a row with data, in the order in which a transaction takes more than
 * one. Each is an empty table of its own, `lock_<name>`. PostgreSQL lets a login lock a table only in the modes that its
 * rights on it allow, so one that may only read takes none of these, as it could an advisory lock. To hold one gives a
 * transaction no id, which list-events would wait for. What takes longer than a transaction is leased: `leases.ts`.
 */
export const locks = [
  /** While migrations are applied. */
  'migration',
  /** While roles are made and get their rights: PostgreSQL fails where two do that at once. */
  'roles',
  /** While a process notes the encryption key that it begins to use. */
  'encryption_keys',
] as const
export type Lock = (typeof locks)[number]

/** Locks of one partner or one address. Each is one of SLOTS rows of the table `lock_slots`, shared by those that hash to it. */
export const keyedLocks = ['mails_of_address', 'mails_of_partner', 'resends'] as const
export type KeyedLock = (typeof keyedLocks)[number]

export const SLOTS = 256

/** What MikroORM finds in the database and no entity describes. */
export const LOCK_TABLES = /^lock_/

/** Conflicts with itself and with nothing that reads or writes rows. */
const MODE = raw.raw('share update exclusive mode')
const tableOf = (lock: Lock) => raw.table(`lock_${lock}`)

/**
 * Holds a lock until the transaction ends.
 *
 * @throws {Error} which lock it is, if it is held for longer than the session's `lock_timeout`; tell by `isLockTimeout`.
 */
export async function takeLock(trx: Sql, lock: Lock): Promise<void> {
  await raw`lock table ${tableOf(lock)} in ${MODE}`.execute(trx).catch((error: unknown) => {
    if (!isLockTimeout(error)) throw error
    throw new Error(`another process holds the lock "${lock}"`, { cause: error })
  })
}

/** With the caller's rights. What is caught here does not fill PostgreSQL's log, as each error of a statement does. */
export const TRY_LOCK = raw`
  create function try_lock(wanted regclass) returns boolean language plpgsql as $$
  begin
    execute format('lock table %s in ${MODE} nowait', wanted);
    return true;
  exception when lock_not_available then
    return false;
  end $$`

/** Holds a lock until the transaction ends, unless another process holds it. */
export async function tryLock(trx: Sql, lock: Lock): Promise<boolean> {
  // without a parameter: of a statement with one, a transaction would keep the snapshot until the next statement
  const { rows } = await raw<{ held: boolean }>`select try_lock(${raw.lit(`lock_${lock}`)}) as held`.execute(
    trx,
  )
  return rows[0]?.held === true
}

/** Holds locks of keys until the transaction ends; all that a transaction needs, because they are taken in one order. */
export async function takeKeyedLocks(
  trx: Sql,
  keys: Partial<Record<KeyedLock, string | number>>,
): Promise<void> {
  const wanted = Object.entries(keys).map(
    ([lock, key]) => raw`(${lock}, hashtext(${String(key)}) & ${raw.lit(SLOTS - 1)})`,
  )
  const { rows } = await raw`
    select from lock_slots where (lock, slot) in (${raw.join(wanted)}) order by lock, slot for update`.execute(
    trx,
  )
  if (rows.length < wanted.length) throw new Error('lock_slots lacks a row: it is filled by a migration')
}
