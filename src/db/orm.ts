import { type EntityManager, type InferKyselyDB, MikroORM } from '@mikro-orm/postgresql'
import type { Generated, Kysely } from 'kysely'
import { entities, ormOptions } from './mikro-orm.config.ts'

/** Connects lazily: the first query opens the first connection. */
export async function connect(databaseUrl: string) {
  return MikroORM.init(ormOptions(databaseUrl))
}

export type Orm = Awaited<ReturnType<typeof connect>>
export type Em = EntityManager

/** Brings the schema up to date; two processes that try at once take turns. */
export async function migrate(orm: Orm): Promise<void> {
  await orm.migrator.up()
}

type Inferred = InferKyselyDB<(typeof entities)[number]>
type WithDefaults<Row, Column extends keyof Row> = Omit<Row, Column> & {
  [Name in Column]: Generated<Row[Name]>
}

/** The tables as the entities define them, and the columns whose values the database makes. */
interface Tables extends Omit<Inferred, 'leads' | 'lead_events' | 'idempotency_keys'> {
  leads: WithDefaults<Inferred['leads'], 'id' | 'metadata'>
  lead_events: WithDefaults<Inferred['lead_events'], 'txid'>
  idempotency_keys: WithDefaults<Inferred['idempotency_keys'], 'created_at'>
}

/** Typed SQL on the connection pool, made from the entities: for the paths that must be fast. */
export type Sql = Kysely<Tables>

export function sqlOf(orm: Orm): Sql {
  return orm.em.getKysely<Tables>()
}
