import type { Migration } from '@mikro-orm/migrations'
import type { Configuration } from '@mikro-orm/postgresql'
import { keyId } from '../sealing/seal.ts'

/** MikroORM makes the migrations itself, and passes its configuration to each. */
const keysOf = new WeakMap<object, readonly Buffer[]>()

/** Gives migrations the keys under which they seal what is there. */
export function giveKeys(config: Configuration, encryptionKeys: readonly Buffer[]): void {
  keysOf.set(config, encryptionKeys)
}

/**
 * The keys for a migration that finds something to seal. The first of them is in use from then on.
 *
 * @throws {Error} one line that says what to set.
 */
export async function takeKeys(
  migration: Pick<Migration, 'execute'>,
  config: object,
): Promise<readonly Buffer[]> {
  const keys = keysOf.get(config) ?? []
  const [newest] = keys
  if (newest === undefined) {
    throw new Error(
      'it holds data that is encrypted from this version on: set ENCRYPTION_KEY to the value that the API and the worker have',
    )
  }
  await migration.execute('insert into encryption_keys (id) values (?) on conflict do nothing', [
    keyId(newest),
  ])
  return keys
}
