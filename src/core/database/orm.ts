import { type EntityManager, MikroORM } from '@mikro-orm/postgresql'
import { sql as raw } from 'kysely'
import { ormOptions } from './mikro-orm.config.ts'
import type { Patience } from './session-options.ts'
import type { Sql, Tables } from '../../tables.ts'

export type { Sql } from '../../tables.ts'

/** Connects lazily: the first query opens the first connection. */
export async function connect(databaseUrl: string, patience?: Patience) {
  return MikroORM.init(ormOptions(databaseUrl, patience))
}

export type Orm = Awaited<ReturnType<typeof connect>>
export type Em = EntityManager

export function sqlOf(orm: Orm): Sql {
  return orm.em.getKysely<Tables>()
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
