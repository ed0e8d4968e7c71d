import { sql as raw } from 'kysely'
import type { Sql } from '../../../tables.ts'

const INSUFFICIENT_PRIVILEGE = '42501'

/** A table's rights, as `grant` takes them. */
export type RightsOf = (table: string, columns: readonly string[]) => string

/** Gives a role its rights on every table, in place of those that it had. A partition is read and written by its table alone. */
export async function grantRights(trx: Sql, role: string, rightsOf: RightsOf): Promise<void> {
  const to = raw.id(role)
  const { schema, database, tables } = await readNames(trx)
  await raw`grant connect on database ${raw.id(database)} to ${to}`.execute(trx)
  await raw`revoke create on schema ${raw.id(schema)} from public`.execute(trx)
  await raw`grant usage on schema ${raw.id(schema)} to ${to}`.execute(trx)
  await raw`revoke all on all tables in schema ${raw.id(schema)} from ${to}`.execute(trx)
  for (const { name, columns } of tables) {
    const rights = raw.raw(rightsOf(name, columns))
    await raw`grant ${rights} on ${raw.id(schema, name)} to ${to}`.execute(trx)
  }
}

/** Lets a role take numbers of every sequence, and leave some out. */
export async function grantSequences(trx: Sql, role: string): Promise<void> {
  const { schema } = await readNames(trx)
  await raw`grant usage, update on all sequences in schema ${raw.id(schema)} to ${raw.id(role)}`.execute(trx)
}

/** What writes staff's reads of personal data, with the owner's rights. */
export const WRITE_STAFF_READ = 'write_staff_read'
/** What drops months of reads of personal data that are older than a year, and no others, with the owner's rights. */
export const DELETE_OLD_READS = 'delete_old_personal_reads'
/** What makes the months of reads that are missing about now, with the owner's rights. */
export const MAKE_MONTHS_OF_READS = 'make_months_of_reads'

/** Lets a role call functions that nobody may call by default. */
export async function grantFunctions(trx: Sql, role: string, ...functions: string[]): Promise<void> {
  for (const name of functions)
    await raw`grant execute on function ${raw.id(name)} to ${raw.id(role)}`.execute(trx)
}

interface Names {
  schema: string
  database: string
  tables: { name: string; columns: string[] }[]
}

async function readNames(trx: Sql): Promise<Names> {
  const { rows } = await raw<Names>`
    select current_schema() as schema, current_database() as database, coalesce((
      select json_agg(json_build_object('name', relname, 'columns', (
        select json_agg(attname order by attnum) from pg_attribute
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped)))
      from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
        and not relispartition), '[]') as tables`.execute(trx)
  const [names] = rows
  if (names === undefined) throw new Error('PostgreSQL answered nothing')
  return names
}

export function isDenied(error: unknown): boolean {
  return codeOf(error) === INSUFFICIENT_PRIVILEGE
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
