import type { Command } from 'commander'
import { sql as raw } from 'kysely'
import { pages, type Sql } from '../database/sql.ts'
import { type Borrower, sealBorrower } from '../leads/lead.ts'
import { keyId, keysInUse, open, type Place, retireKeys, seal, SealError } from '../seal.ts'
import { table } from '../staff/answer.ts'
import type { Run, StaffContext } from '../staff/context.ts'

/** Columns with sealed values, and the column that identifies the row in a value's `Place`. */
const sealedColumns = [
  { table: 'leads', id: 'id', column: 'personal' },
  { table: 'endpoint_secrets', id: 'id', column: 'ciphertext' },
  // only the hashes of create-lead, which have a lead, are sealed
  { table: 'idempotency_keys', id: 'lead_id', column: 'request_hash' },
] as const

type SealedColumn = (typeof sealedColumns)[number]

/** All values of a column, for a `from`. */
function valuesOf({ table: name, id, column }: SealedColumn) {
  const [row, cell] = [raw.ref(id), raw.ref(column)]
  return raw`(select ${row} as id, ${cell} as value from ${raw.table(name)}
    where ${row} is not null and ${cell} is not null) as sealed`
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

/** Values per read. */
const PAGE = 500

/**
 * Moves the values of a column to the first of `keys`, and returns how many it moved. A value that changed since it was read
 * stays, and so does one that cannot be opened. Interrupted, it is called again and continues with what is left.
 */
async function rewriteColumn(sql: Sql, sealed: SealedColumn, keys: readonly Buffer[]): Promise<number> {
  const { table: name, id: row, column } = sealed
  const read = async (after: number, limit: number) => {
    const { rows } = await raw<{ id: number; value: string }>`
      select * from ${valuesOf(sealed)} where ${keyOfValue} <> ${newestOf(keys)} and id > ${after}
      order by id limit ${limit}`.execute(sql)
    return rows
  }
  let moved = 0
  for await (const page of pages(PAGE, 0, read, ({ id }) => id))
    for (const { id, value } of page) {
      const place: Place = `${name}:${id}:${column}`
      const text = openOrSkip(value, place, keys)
      if (text === undefined) continue
      const cells =
        // with the hash of the email address, which uses the same key
        name === 'leads'
          ? sealBorrower(id, JSON.parse(text) as Borrower, keys)
          : { [column]: seal(text, place, keys) }
      const set = Object.entries(cells).map(([cell, its]) => raw`${raw.ref(cell)} = ${its}`)
      const { numAffectedRows } = await raw`update ${raw.table(name)} set ${raw.join(set)}
        where ${raw.ref(row)} = ${id} and ${raw.ref(column)} = ${value}`.execute(sql)
      moved += Number(numAffectedRows)
    }
  return moved
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
  const newest = newestOf(config.ENCRYPTION_KEY ?? [])
  return {
    json: { newest_key: newest, needed_keys: await keysInUse(sql), values },
    text:
      values.length === 0
        ? 'Nothing is encrypted yet.'
        : `The newest key is ${newest || 'not set'}.\n\n${tableOf(values)}`,
  }
}

export async function rewrite(context: StaffContext) {
  const { sql } = context
  const keys = await context.encryptionKeys()
  const newest = newestOf(keys)
  const needed = await keysInUse(sql)
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
    text: `Moved ${moved} values to the key ${newest}. ${isDone ? DONE : `${NOT_DONE}\n\n${tableOf(left)}`}`,
    failed: !isDone,
  }
}

const DONE =
  'Nothing is under another key. Once every API and worker runs with the newest key first, remove the others from ENCRYPTION_KEY. Keep them elsewhere as long as older backups exist.'
const NOT_DONE =
  'Keep every older key: the values below cannot be read, or a process still writes with an older key. Restart every API and worker with the newest key first, and run this again.'

const tableOf = (uses: KeyUse[]) => table(uses, { key: 'key', in: 'column', values: 'values' })
