import { type RawBuilder, sql as raw } from 'kysely'
import type { Sql } from '../../../core/database/sql.ts'
import { keyId, open, type Place, seal, SealError } from '../../../core/sealing/seal.ts'
import {
  eachValue,
  keyOfValue,
  sealedTables,
  type SealedTable,
  type SealedValues,
  setValues,
  valuesOf,
} from './sealed-values.ts'

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
export async function rewriteValues(sql: Sql, keys: readonly Buffer[]): Promise<Rewritten> {
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
