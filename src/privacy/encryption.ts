import type { Command } from 'commander'
import { sql as raw } from 'kysely'
import { pages, type Sql } from '../database/sql.ts'
import { type Borrower, hashOfBorrower } from '../leads/sealed-lead.ts'
import { keyId, keysInUse, open, type Place, retireKeys, seal, SealError } from '../seal.ts'
import { table } from '../staff/answer.ts'
import { notYetInUse, type Run, type StaffContext } from '../staff/context.ts'
import { Refusal } from '../staff/refusal.ts'

/** A column with sealed values. */
interface SealedColumn {
  table: string
  /** The column that names the row in the values' places. */
  id: string
  column: string
  /** A jsonb column whose values are sealed one by one; the place of one is `<column>.<name>`. */
  isMap?: true
}

const sealedColumns: SealedColumn[] = [
  { table: 'leads', id: 'id', column: 'personal' },
  { table: 'leads', id: 'id', column: 'notes' },
  { table: 'leads', id: 'id', column: 'metadata', isMap: true },
  { table: 'endpoint_secrets', id: 'id', column: 'ciphertext' },
  // only the hashes of create-lead, which have a lead, are sealed
  { table: 'idempotency_keys', id: 'lead_id', column: 'request_hash' },
]

interface SealedValue {
  id: number
  /** In a map, the value's name there; else empty. */
  name: string
  value: string
}

/** All values of a column, for a `from`. */
function valuesOf({ table: name, id, column, isMap }: SealedColumn) {
  const [from, row, cell] = [raw.table(name), raw.ref(id), raw.ref(column)]
  return isMap
    ? raw`(select ${row} as id, key as name, value from ${from}, jsonb_each_text(${cell})) as sealed`
    : raw`(select ${row} as id, '' as name, ${cell} as value from ${from} where ${row} is not null and ${cell} is not null) as sealed`
}
const keyOfValue = raw<string>`split_part(value, '.', 2)`

interface KeyUse {
  key: string
  /** Table and column. */
  column: string
  values: number
}

/** How many values are under which key. Reads all that is sealed. */
async function countValues(sql: Sql): Promise<KeyUse[]> {
  const uses: KeyUse[] = []
  for (const sealed of sealedColumns) {
    const { rows } = await raw<KeyUse>`
      select ${keyOfValue} as key, ${`${sealed.table}.${sealed.column}`} as "column", count(*)::int as "values"
      from ${valuesOf(sealed)} group by 1 order by 1`.execute(sql)
    uses.push(...rows)
  }
  return uses
}

/** Values that are read at a time. */
const PAGE = 500

/**
 * Moves the values of a column to the first of `keys`, and returns how many it moved. A value that changed since it was read
 * stays, and so does one that cannot be opened. Interrupted, it is called again and continues with what is left.
 */
async function rewriteColumn(sql: Sql, sealed: SealedColumn, keys: readonly Buffer[]): Promise<number> {
  let moved = 0
  const read = async (after: SealedValue, limit: number) => {
    const { rows } = await raw<SealedValue>`
      select * from ${valuesOf(sealed)}
      where ${keyOfValue} <> ${newestOf(keys)} and id >= ${after.id} and (id, name) > (${after.id}, ${after.name})
      order by id, name limit ${limit}`.execute(sql)
    return rows
  }
  for await (const page of pages(PAGE, { id: 0, name: '', value: '' }, read, (row) => row))
    for (const row of page) if (await rewriteValue(sql, sealed, row, keys)) moved += 1
  return moved
}

async function rewriteValue(
  sql: Sql,
  { table: name, id, column, isMap }: SealedColumn,
  old: SealedValue,
  keys: readonly Buffer[],
): Promise<boolean> {
  const place: Place = `${name}:${old.id}:${isMap ? `${column}.${old.name}` : column}`
  const text = openOrSkip(old.value, place, keys)
  if (text === undefined) return false
  const value = seal(text, place, keys)
  const cell = raw.ref(column)
  const set = isMap
    ? raw`${cell} = jsonb_set(${cell}, array[${old.name}], to_jsonb(${value}::text))`
    : raw`${cell} = ${value}`
  // under the same key as the borrower
  const hash =
    column === 'personal' && raw`, email_hash = ${hashOfBorrower(JSON.parse(text) as Borrower, value, keys)}`
  const { numAffectedRows } = await raw`
    update ${raw.table(name)} set ${set}${hash || raw``}
    where ${raw.ref(id)} = ${old.id} and ${isMap ? raw`${cell} ->> ${old.name}` : cell} = ${old.value}`.execute(
    sql,
  )
  return numAffectedRows !== 0n
}

function openOrSkip(value: string, place: Place, keys: readonly Buffer[]): string | undefined {
  try {
    return open(value, place, keys)
  } catch (error) {
    if (error instanceof SealError) return undefined
    throw error
  }
}

const newestOf = ([newest]: readonly Buffer[]) => (newest === undefined ? '' : keyId(newest))

export function addEncryptionCommands(program: Command, run: Run): void {
  const encryption = program
    .command('encryption')
    .description('the keys under which personal data and signing secrets are stored')
  encryption.command('show').description('how many values are under which key').action(run(showKeysInUse))
  encryption
    .command('rewrite')
    .description(
      'move every value to the newest key, the first of ENCRYPTION_KEY; can be interrupted and repeated',
    )
    .action(run(rewrite))
}

export async function showKeysInUse({ sql, config }: StaffContext) {
  const values = await countValues(sql)
  return {
    json: { newest_key: newestOf(config.ENCRYPTION_KEY ?? []), needed_keys: await keysInUse(sql), values },
    text: values.length === 0 ? 'Nothing is encrypted yet.' : tableOf(values, config.ENCRYPTION_KEY ?? []),
  }
}

export async function rewrite(context: StaffContext) {
  const { sql } = context
  const keys = await context.openingKeys()
  const newest = newestOf(keys)
  const needed = await keysInUse(sql)
  if (needed.length > 0 && !needed.includes(newest)) throw new Refusal(notYetInUse(newest))
  const action = { action: 'encryption.rewrite', detail: { key: newest } }
  const { moved, left } = await context.act(action, async () => {
    let count = 0
    for (const sealed of sealedColumns) count += await rewriteColumn(sql, sealed, keys)
    const others = (await countValues(sql)).filter(({ key }) => key !== newest)
    const retired = needed.filter((id) => id !== newest && others.every(({ key }) => key !== id))
    await retireKeys(sql, retired)
    const result = { moved: count, left: others }
    return { result, detail: { ...result, retired } }
  })
  const isDone = left.length === 0
  return {
    json: { key: newest, moved, left },
    text: `Moved ${moved} values to the key ${newest}. ${isDone ? DONE : `${NOT_DONE}\n\n${tableOf(left, keys)}`}`,
    failed: !isDone,
  }
}

const DONE =
  'Nothing is under another key. Once every API and worker runs with the newest key first, remove the others from ENCRYPTION_KEY. Keep them as long as backups from before exist.'
const NOT_DONE =
  'Keep every older key: the values below cannot be read, or a process still writes with an older key. Restart every API and worker with the newest key first, and run this again.'

const tableOf = (uses: KeyUse[], keys: readonly Buffer[]) =>
  table(uses, {
    key: 'key',
    'in ENCRYPTION_KEY': ({ key }) =>
      ['missing', 'newest', 'older'][Math.min(2, keys.findIndex((own) => keyId(own) === key) + 1)],
    in: 'column',
    values: 'values',
  })
