import { sql as raw } from 'kysely'
import type { Sql } from '../../src/database/sql.ts'

/** All rows of one moment, and how far ids were given, as pg_dump has them. */
export async function dump(sql: Sql) {
  return sql
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      const { rows: tables } = await raw<{ name: string }>`
        select relname as name from pg_class
        where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'mikro_orm_migrations'`.execute(
        trx,
      )
      const contents = new Map<string, string>()
      for (const { name } of tables) {
        const { rows } = await raw<{ content: string }>`
          select coalesce(json_agg(t), '[]')::text as content from ${raw.table(name)} as t`.execute(trx)
        contents.set(name, rows[0]?.content ?? '[]')
      }
      const { rows: sequences } = await raw<{ name: string; last: number }>`
        select sequencename as name, last_value as last from pg_sequences
        where schemaname = 'public' and last_value is not null`.execute(trx)
      return { contents, sequences }
    })
}

/** Loads them into the schema of a new cluster. */
export async function load(
  sql: Sql,
  { contents, sequences }: Awaited<ReturnType<typeof dump>>,
): Promise<void> {
  await sql.transaction().execute(async (trx) => {
    // foreign keys, in whatever order the tables come
    await raw`set local session_replication_role = replica`.execute(trx)
    for (const [name, content] of contents) {
      const table = raw.table(name)
      await raw`insert into ${table} overriding system value
        select * from json_populate_recordset(null::${table}, ${content}::json)`.execute(trx)
    }
    for (const { name, last } of sequences) await raw`select setval(${name}::regclass, ${last})`.execute(trx)
  })
}
