import { createHash } from 'node:crypto'
import { sql as raw } from 'kysely'
import type { Sql } from '../../../core/database/orm.ts'
import { pages } from '../../../core/database/pages.ts'

/** Rows that are in memory at a time. */
const PAGE = 1000
/** The `previous_hash` of the first row. */
export const BEGINNING = '00'.repeat(32)

/** A row of the audit as it is exported; its fields but `hash` are what `hash` is made from. */
export interface AuditLine {
  action: string
  actor: string
  /** In UTC, to the microsecond. */
  at: string
  begun_id: number | null
  database_user: string | null
  /** JSON, as PostgreSQL writes it. */
  detail: string | null
  host: string | null
  id: number
  lead_id: number | null
  os_user: string | null
  outcome: string
  partner_id: number | null
  /** In hexadecimal, as `hash`. */
  previous_hash: string
  staff_name: string | null
  hash: string
}

/**
 * What `hash` must be: SHA-256 of each other field that is not null, in the order of their names, as `name:bytes:value` and
 * a line feed. PostgreSQL has computed it by itself (the function audit_hash).
 */
export function hashOf({ hash: _, ...fields }: AuditLine): string {
  const hash = createHash('sha256')
  for (const [name, value] of Object.entries(fields).toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    if (value !== null) hash.update(`${name}:${Buffer.byteLength(String(value))}:${value}\n`)
  }
  return hash.digest('hex')
}

/** The rows after one and up to another, in order, read in pages. */
export async function* auditLines(
  sql: Sql,
  after = 0,
  last = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<AuditLine> {
  const read = (from: number, limit: number) => readPage(sql, from, last, limit)
  for await (const page of pages(PAGE, after, read, ({ id }) => id)) yield* page
}

async function readPage(sql: Sql, after: number, last: number, limit: number): Promise<AuditLine[]> {
  return sql
    .selectFrom('audit')
    .select([
      'action',
      'actor',
      raw<string>`to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`.as('at'),
      'begun_id',
      'database_user',
      raw<string | null>`detail::text`.as('detail'),
      'host',
      'id',
      'lead_id',
      'os_user',
      'outcome',
      'partner_id',
      raw<string>`encode(previous_hash, 'hex')`.as('previous_hash'),
      'staff_name',
      raw<string>`encode(hash, 'hex')`.as('hash'),
    ])
    .where('id', '>', after)
    .where('id', '<=', last)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** The rows of a time: those after the first id and up to the second. */
export async function idsOfTime(sql: Sql, from?: Date, to?: Date): Promise<{ after: number; last: number }> {
  const { first, last } = await sql
    .selectFrom('audit')
    .select(({ fn }) => [fn.min('id').as('first'), fn.max('id').as('last')])
    .$if(from !== undefined, (query) => query.where('at', '>=', from ?? new Date()))
    .$if(to !== undefined, (query) => query.where('at', '<', to ?? new Date()))
    .executeTakeFirstOrThrow()
  return { after: (first ?? 1) - 1, last: last ?? 0 }
}

/** The row with this hash, if it is not its own place that was looked for. */
export async function idOfHash(sql: Sql, hash: string): Promise<number | undefined> {
  const found = await sql
    .selectFrom('audit')
    .select('id')
    .where('hash', '=', Buffer.from(hash, 'hex'))
    .executeTakeFirst()
  return found?.id
}

/** The latest row as `id:hash`, which proves all rows until it; `undefined` while there is none. */
export async function auditHead(sql: Sql): Promise<string | undefined> {
  const head = await sql
    .selectFrom('audit')
    .select(raw<string>`id || ':' || encode(hash, 'hex')`.as('head'))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return head?.head
}
