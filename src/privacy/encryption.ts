import type { Command } from 'commander'
import { type RawBuilder, sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { type Borrower, hashOfBorrower } from '../leads/sealed-lead.ts'
import { keyId, keysInUse, open, type Place, retireKeys, seal, SealError } from '../seal.ts'
import { table } from '../staff/answer.ts'
import { matching } from '../staff/arguments.ts'
import { notYetInUse, type Run, type StaffContext } from '../staff/context.ts'
import { Refusal } from '../staff/refusal.ts'

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
const sealedTables: SealedTable[] = [
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
function valuesOf({ columns, map }: SealedTable) {
  const pairs = columns.flatMap((column) => [raw.lit(column), raw.ref(column)])
  const own = raw`jsonb_strip_nulls(jsonb_build_object(${raw.join(pairs)}))`
  if (map === undefined) return raw<SealedValues>`${own}`
  return raw<SealedValues>`${own} || coalesce(
    (select jsonb_object_agg(${raw.lit(`${map}.`)} || key, value) from jsonb_each(${raw.ref(map)})), '{}')`
}

/** What an update sets, so that a row has these values. */
function setValues({ columns, map }: SealedTable, values: SealedValues) {
  const own = columns.map((column) => raw`${raw.ref(column)} = ${values[column] ?? null}::text`)
  if (map === undefined) return raw.join(own)
  const named = Object.entries(values).filter(([path]) => path.startsWith(`${map}.`))
  const object = Object.fromEntries(named.map(([path, value]) => [path.slice(map.length + 1), value]))
  return raw.join([...own, raw`${raw.ref(map)} = ${JSON.stringify(object)}::jsonb`])
}

/** A row's sealed values as rows, `each_value (path, value)`. */
const eachValue = (sealed: SealedTable) =>
  raw`jsonb_each_text(${valuesOf(sealed)}) as each_value (path, value)`

/** The id of the key of one of them. */
const keyOfValue = raw<string>`split_part(each_value.value, '.', 2)`

export interface KeyUse {
  keyId: string
  /** Table and column. */
  where: string
  values: number
}

/** How many values are under which key. Reads all that is sealed. */
async function countValues(sql: Sql): Promise<KeyUse[]> {
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

/** Rows that are read at a time. */
const PAGE = 500
/** Rows that are written at a time, each by a statement of its own, so that nobody waits for more than one of them. */
const AT_A_TIME = 4
/** How often a table is read for rows that were changed meanwhile. */
const PASSES = 5

interface Row {
  id: number
  /** The row's place in its table. */
  tid: string
  values: SealedValues
}

/** What a rewrite did; values that cannot be opened stay as they are. */
export interface Rewritten {
  moved: number
  unreadable: number
}

/**
 * Moves every sealed value to the first of `keys`. A row is written only if its values are still those that were read, so
 * what others write meanwhile stays. Cut off, it is called again: it continues with what is left.
 */
async function rewriteValues(sql: Sql, keys: readonly Buffer[]): Promise<Rewritten> {
  const total: Rewritten = { moved: 0, unreadable: 0 }
  for (const sealed of sealedTables) {
    let pass = { moved: 0, unreadable: 0, missed: 1 }
    for (let count = 0; count < PASSES && pass.missed > 0; count += 1) {
      pass = await rewriteTable(sql, sealed, keys)
      total.moved += pass.moved
    }
    total.unreadable += pass.unreadable
  }
  return total
}

/** `missed`: rows that changed after they were read. */
async function rewriteTable(sql: Sql, sealed: SealedTable, keys: readonly Buffer[]) {
  const pass = { moved: 0, unreadable: 0, missed: 0 }
  const newest = keys[0] === undefined ? '' : keyId(keys[0])
  let rows: Row[]
  for (let after = 0; ; after = rows.at(-1)?.id ?? after) {
    rows = await rowsUnderOthers(sql, sealed, newest, after)
    if (rows.length === 0) return pass
    for (let start = 0; start < rows.length; start += AT_A_TIME) {
      const ends = rows.slice(start, start + AT_A_TIME).map((row) => rewriteRow(sql, sealed, row, keys))
      for (const { moved, unreadable, isMissed } of await Promise.all(ends)) {
        pass.moved += moved
        pass.unreadable += unreadable
        pass.missed += isMissed ? 1 : 0
      }
    }
  }
}

async function rowsUnderOthers(sql: Sql, sealed: SealedTable, newest: string, after: number): Promise<Row[]> {
  const id = raw.ref(sealed.id)
  const { rows } = await raw<Row>`
    select ${id} as id, ctid::text as tid, ${valuesOf(sealed)} as values from ${raw.table(sealed.table)}
    where ${id} > ${after}
      and exists (select from ${eachValue(sealed)} where ${keyOfValue} <> ${newest})
    order by ${id} limit ${PAGE}`.execute(sql)
  return rows
}

async function rewriteRow(
  sql: Sql,
  sealed: SealedTable,
  { id, tid, values }: Row,
  keys: readonly Buffer[],
): Promise<Rewritten & { isMissed: boolean }> {
  const newest = keys[0] === undefined ? '' : keyId(keys[0])
  const others = Object.entries(values).filter(([, value]) => value.split('.')[1] !== newest)
  const also: RawBuilder<unknown>[] = []
  const resealed = others.flatMap(([path, value]): [string, string][] => {
    const place: Place = `${sealed.table}:${id}:${path}`
    const text = openOrSkip(value, place, keys)
    if (text === undefined) return []
    const moved = seal(text, place, keys)
    const { derived } = sealed
    if (path === derived?.from)
      also.push(raw`${raw.ref(derived.column)} = ${derived.derive(text, moved, keys)}`)
    return [[path, moved]]
  })
  const unreadable = others.length - resealed.length
  if (resealed.length === 0) return { moved: 0, unreadable, isMissed: false }
  const { numAffectedRows } = await raw`
    update ${raw.table(sealed.table)}
    set ${raw.join([setValues(sealed, { ...values, ...Object.fromEntries(resealed) }), ...also])}
    where ctid = ${tid}::tid and ${raw.ref(sealed.id)} = ${id}
      and (${valuesOf(sealed)}) = ${JSON.stringify(values)}::jsonb`.execute(sql)
  const isMissed = numAffectedRows === 0n
  return { moved: isMissed ? 0 : resealed.length, unreadable, isMissed }
}

function openOrSkip(value: string, place: Place, keys: readonly Buffer[]): string | undefined {
  try {
    return open(value, place, keys)
  } catch (error) {
    if (error instanceof SealError) return undefined
    throw error
  }
}

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
  encryption
    .command('forget')
    .description('let API and worker start without a key that is lost; what is under it stays unreadable')
    .argument('<key>', 'its id', matching(/^[0-9a-f]{8}$/, 'Use a key’s id: see "encryption show".'))
    .action(run(forget))
}

export async function showKeysInUse({ sql, config }: StaffContext) {
  const keys = config.ENCRYPTION_KEY
  const uses = await countValues(sql)
  const needed = await keysInUse(sql)
  return {
    json: {
      newest_key: keys === undefined ? null : newestOf(keys),
      needed_keys: needed,
      values: uses.map(toJson),
    },
    text: uses.length === 0 ? 'Nothing is encrypted yet.' : tableOf(uses, keys),
  }
}

export async function rewrite(context: StaffContext) {
  const { sql, ownKeys } = context
  const newest = newestOf(ownKeys())
  const needed = await keysInUse(sql)
  if (needed.length > 0 && !needed.includes(newest)) throw new Refusal(notYetInUse(newest))
  const action = { action: 'encryption.rewrite', detail: { key: newest } }
  const { moved, unreadable, left } = await context.act(action, async () => {
    const rewritten = await rewriteValues(sql, ownKeys())
    const uses = await countValues(sql)
    const others = uses.filter(({ keyId: id }) => id !== newest)
    const retired = needed.filter((id) => id !== newest && others.every((use) => use.keyId !== id))
    await retireKeys(sql, retired)
    const detail = { ...rewritten, left: others.map(toJson), retired }
    return { result: { ...rewritten, left: others }, detail }
  })
  const isDone = left.length === 0
  return {
    json: { key: newest, moved, unreadable, left: left.map(toJson) },
    text: [
      `Moved ${moved} ${moved === 1 ? 'value' : 'values'} to the key ${newest}.`,
      isDone ? done(ownKeys()) : `${notDone(unreadable)}\n\n${tableOf(left, ownKeys())}`,
    ].join(' '),
    failed: !isDone,
  }
}

export async function forget(context: StaffContext, key: string) {
  const { sql, config } = context
  // it decrypts nothing: who has no keys cannot have this one
  if ((config.ENCRYPTION_KEY ?? []).some((own) => keyId(own) === key)) {
    throw new Refusal(`ENCRYPTION_KEY has the key ${key}: move what is under it with "encryption rewrite".`)
  }
  if (!(await keysInUse(sql)).includes(key)) throw new Refusal(`No process needs the key ${key}.`)
  const uses = (await countValues(sql)).filter((use) => use.keyId === key)
  const values = uses.reduce((sum, use) => sum + use.values, 0)
  await context.change(async ({ sql: trx, audit }) => {
    await retireKeys(trx, [key])
    await audit({ action: 'encryption.forget', detail: { key, values: uses.map(toJson) } })
  })
  return {
    json: { key, values: uses.map(toJson) },
    text: `API and worker start without the key ${key}. ${values} ${values === 1 ? 'value stays' : 'values stay'} unreadable until ENCRYPTION_KEY has it again.`,
  }
}

const newestOf = ([newest]: readonly Buffer[]) => (newest === undefined ? '' : keyId(newest))

function placeOf(id: string, keys: readonly Buffer[]): string {
  const place = keys.findIndex((key) => keyId(key) === id)
  return place === -1 ? 'missing' : place === 0 ? 'newest' : 'older'
}

function done(keys: readonly Buffer[]): string {
  const older = keys.slice(1).map(keyId)
  if (older.length === 0) return 'Nothing is under another key.'
  const which = older.length === 1 ? `the key ${older[0]}` : `the keys ${older.join(', ')}`
  return `Nothing is under another key: you may remove ${which} from ENCRYPTION_KEY, once every API and worker has been restarted with the newest key first. Keep the old one as long as you keep backups from before.`
}

function notDone(unreadable: number): string {
  return unreadable > 0
    ? `${unreadable} cannot be read, because their key is missing or they are damaged. Keep every older key.`
    : 'A process still writes with an older key: restart every API and worker with the newest key first, and run this again.'
}

/** Without keys, it says nothing of them. */
function tableOf(uses: KeyUse[], keys: readonly Buffer[] | undefined): string {
  return table(uses, {
    key: 'keyId',
    ...(keys !== undefined && { 'in ENCRYPTION_KEY': ({ keyId: id }: KeyUse) => placeOf(id, keys) }),
    in: 'where',
    values: 'values',
  })
}

const toJson = ({ keyId: key, where, values }: KeyUse) => ({ key, column: where, values })
