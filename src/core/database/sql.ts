import type { EntityManager } from '@mikro-orm/postgresql'
import { type Kysely, sql as raw } from 'kysely'
import type { Tables } from '../../tables.ts'

/** Typed SQL, made from the entities: on the connection pool, or in a transaction. */
export type Sql = Kysely<Tables>
export type Em = EntityManager

export function sqlOf({ em }: { em: Em }): Sql {
  return em.getKysely<Tables>()
}

/** Typed SQL in the transaction that `em` is in. */
export function sqlIn(em: Em): Sql {
  return em.getKysely<Tables>()
}

/** Whether PostgreSQL answers. */
export async function isReachable(sql: Sql): Promise<boolean> {
  await raw`select 1`.execute(sql)
  return true
}
