import type { EntityManager } from '@mikro-orm/postgresql'
import { type CompiledQuery, type Expression, type Kysely, sql as raw } from 'kysely'
import type { Tables } from './orm.ts'

/** Typed SQL, made from the entities: on the connection pool, or in a transaction. */
export type Sql = Kysely<Tables>

/** Typed SQL on the connection pool. */
export function sqlOf({ em }: { em: EntityManager }): Sql {
  return em.getKysely<Tables>()
}

/** Rejects while PostgreSQL does not answer. */
export async function reachDatabase(sql: Sql): Promise<void> {
  await raw`select 1`.execute(sql)
}

/** Runs `work` in the caller's transaction if there is one, and otherwise in one of its own. */
export const inTransaction = <Result>(sql: Sql, work: (trx: Sql) => Promise<Result>): Promise<Result> =>
  sql.isTransaction ? work(sql) : sql.transaction().execute(work)

/** Reads in one snapshot: what several statements find is of one moment. */
export const inSnapshot = <const Found>(sql: Sql, read: (snapshot: Sql) => Promise<Found>): Promise<Found> =>
  sql.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read)

/** A value for a jsonb column: the driver would turn an array or a string into something else. */
export function jsonb<Value>(value: Value) {
  return value === null ? null : raw<Value>`${JSON.stringify(value)}::jsonb`
}

/** Yields pages of `size` rows, each read from the place of the last row of the page before. */
export async function* pages<Row, Place>(
  size: number,
  first: Place,
  read: (after: Place, limit: number) => Promise<Row[]>,
  placeOf: (row: Row) => Place,
): AsyncGenerator<Row[]> {
  let after = first
  for (;;) {
    const rows = await read(after, size)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    if (rows.length < size) return
    after = placeOf(last)
  }
}

/** Takes the id of a row before it is inserted: what is sealed in it is bound to the id. */
export async function nextId(sql: Sql, table: 'endpoint_secrets'): Promise<number> {
  const { rows } = await raw<{ id: number }>`
    select nextval(pg_get_serial_sequence(${table}, 'id'))::int as id`.execute(sql)
  if (rows[0] === undefined) throw new Error('a sequence has no value')
  return rows[0].id
}

/** How far this process's clock is ahead of PostgreSQL's, in seconds; exact to half the round trip. */
export async function clockAheadSeconds(sql: Sql): Promise<number> {
  const before = Date.now()
  const { rows } = await raw<{ now: Date }>`select clock_timestamp() as now`.execute(sql)
  if (rows[0] === undefined) throw new Error('a clock has no row')
  return ((before + Date.now()) / 2 - rows[0].now.getTime()) / 1000
}

type ValueOf<Values> = <Name extends keyof Values>(name: Name) => Expression<Values[Name]>

/** A placeholder in a compiled query for a value of each execution. */
class Parameter {
  readonly name: PropertyKey
  constructor(name: PropertyKey) {
    this.name = name
  }
}

/**
 * A query that is built and compiled at its first use only: that takes 40 to 60 µs, a quarter of a get-lead. Its text must
 * depend on nothing but its code.
 *
 * @param build asks for the placeholder of each value by its name: `value('leadId')`.
 */
export function compiledOnce<Values extends object>() {
  return <Row>(build: (sql: Sql, value: ValueOf<Values>) => { compile(sql: Sql): CompiledQuery<Row> }) => {
    let compiled: CompiledQuery<Row> | undefined
    return async (sql: Sql, values: Values): Promise<Row[]> => {
      compiled ??= build(sql, (name) => raw`${new Parameter(name)}`).compile(sql)
      const parameters = compiled.parameters.map((parameter) =>
        parameter instanceof Parameter ? values[parameter.name as keyof Values] : parameter,
      )
      const { rows } = await sql.executeQuery<Row>({ ...compiled, parameters })
      return rows
    }
  }
}

/** What has no row to lock: a migration, the encryption keys that a process notes, the mails to the hash of an address. */
export type Lock = 'migration' | 'encryption_keys' | 'mails_of_address'

/**
 * Holds a lock until the transaction ends, of one key if given. What it protects is read by a later statement. It gives the
 * transaction no id, which list-events would wait for.
 */
export async function takeLock(trx: Sql, lock: Lock, key = ''): Promise<void> {
  await raw`select pg_advisory_xact_lock(hashtext(${lock}), hashtext(${key}))`.execute(trx)
}
