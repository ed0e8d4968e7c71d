import { sql as raw } from 'kysely'
import { type Borrower, hashOfBorrower } from '../../../core/leads/statements/sealed-lead.ts'
import type { Sql } from '../../../core/database/sql.ts'

/** A table with sealed values. */
export interface SealedTable {
  table: string
  /** The column that is the row in the values' places. */
  id: string
  columns: string[]
  /** A jsonb column whose values are sealed each; the place of one is `<column>.<name>`. */
  map?: string
  /** What else a row has under the key of one of its values: written anew with it, as its column and what it becomes. */
  derived?: { from: string; column: string; derive: Derive }
}

/** @param sealed the value that `text` is in, under the key that `derive` uses too. */
type Derive = (text: string, sealed: string, keys: readonly Buffer[]) => string

/** Every table with sealed values. */
export const sealedTables: SealedTable[] = [
  {
    table: 'leads',
    id: 'id',
    columns: ['personal', 'notes'],
    map: 'metadata',
    derived: {
      from: 'personal',
      column: 'email_hash',
      derive: (text, sealed, keys) => hashOfBorrower(JSON.parse(text) as Borrower, sealed, keys),
    },
  },
  { table: 'endpoint_secrets', id: 'id', columns: ['ciphertext'] },
  // those without a lead are not sealed
  { table: 'idempotency_keys', id: 'lead_id', columns: ['request_hash'] },
]

/** A row's sealed values by the last part of their places: `{personal: 'v1.…', 'metadata.branch': 'v1.…'}`. */
export type SealedValues = Record<string, string>

/** A row's sealed values, as SQL. */
export function valuesOf({ columns, map }: SealedTable) {
  const pairs = columns.flatMap((column) => [raw.lit(column), raw.ref(column)])
  const own = raw`jsonb_strip_nulls(jsonb_build_object(${raw.join(pairs)}))`
  if (map === undefined) return raw<SealedValues>`${own}`
  return raw<SealedValues>`${own} || coalesce(
    (select jsonb_object_agg(${raw.lit(`${map}.`)} || key, value) from jsonb_each(${raw.ref(map)})), '{}')`
}

/** What an update sets, so that a row has these values. */
export function setValues({ columns, map }: SealedTable, values: SealedValues) {
  const own = columns.map((column) => raw`${raw.ref(column)} = ${values[column] ?? null}::text`)
  if (map === undefined) return raw.join(own)
  const named = Object.entries(values).filter(([path]) => path.startsWith(`${map}.`))
  const object = Object.fromEntries(named.map(([path, value]) => [path.slice(map.length + 1), value]))
  return raw.join([...own, raw`${raw.ref(map)} = ${JSON.stringify(object)}::jsonb`])
}

/** A row's sealed values as rows, `each_value (path, value)`. */
export const eachValue = (sealed: SealedTable) =>
  raw`jsonb_each_text(${valuesOf(sealed)}) as each_value (path, value)`

/** The id of the key of one of them. */
export const keyOfValue = raw<string>`split_part(each_value.value, '.', 2)`

export interface KeyUse {
  keyId: string
  /** Table and column. */
  where: string
  values: number
}

/** How many values are under which key. Reads all that is sealed. */
export async function countValues(sql: Sql): Promise<KeyUse[]> {
  const uses: KeyUse[] = []
  for (const sealed of sealedTables) uses.push(...(await countIn(sql, sealed)))
  return uses
}

async function countIn(sql: Sql, sealed: SealedTable): Promise<KeyUse[]> {
  const { rows } = await raw<KeyUse>`
    select ${keyOfValue} as "keyId", ${raw.lit(`${sealed.table}.`)} || split_part(each_value.path, '.', 1) as "where",
      count(*)::int as "values"
    from ${raw.table(sealed.table)}, ${eachValue(sealed)}
    where ${raw.ref(sealed.id)} is not null
    group by 1, 2 order by 2, 1`.execute(sql)
  return rows
}
