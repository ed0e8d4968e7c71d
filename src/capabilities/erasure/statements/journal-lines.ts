import { randomUUID } from 'node:crypto'
import { sql as raw } from 'kysely'
import type { Certificate, JournalLine } from '../decisions/erasure.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { pages } from '../../../core/database/pages.ts'
import type { ErasureTools, Journal, Journaled } from './journal.ts'

const PAGE = 1000

/** Lines that certificates of this record name, and those of them that the journal lacks. */
interface NamedLines {
  named: number
  missing: { id: number; lead_id: number; sha256: string }[]
}

/**
 * Compares the certificates with the journal. Without a line that a certificate names, an erasure could not be repeated
 * after a restore, and nobody would notice.
 *
 * @returns one line that says what to do; `undefined` if the journal has them all.
 */
export async function lackingLines(sql: Sql, { journal }: ErasureTools): Promise<string | undefined> {
  const { named, missing } = await compareLines(sql, journal)
  if (missing.length === 0) return undefined
  const where =
    journal === undefined
      ? 'ERASURE_JOURNAL is not set'
      : `The erasure journal in ${journal.folder} is not complete`
  return `${where}: it lacks ${missing.length} of the ${named} lines that certificates of erasures name. Correct ERASURE_JOURNAL, or put the missing files back; if they are lost, run npm run staff -- erasure rebuild`
}

async function compareLines(sql: Sql, journal: Journal | undefined): Promise<NamedLines> {
  const compared: NamedLines = { named: 0, missing: [] }
  let there: Set<string> | undefined
  const read = (after: number, limit: number) => namedAfter(sql, after, limit)
  for await (const page of pages(PAGE, 0, read, ({ id }) => id)) {
    // read only where a certificate names a line
    there ??= await hashesIn(journal)
    compared.named += page.length
    compared.missing.push(...lackingIn(there, page))
  }
  // a certificate of a later page may be younger than what was read: its line is there, as it is written before
  if (compared.missing.length > 0) compared.missing = lackingIn(await hashesIn(journal), compared.missing)
  return compared
}

const lackingIn = (hashes: Set<string>, lines: NamedLines['missing']) =>
  lines.filter(({ sha256 }) => !hashes.has(sha256))

async function namedAfter(sql: Sql, after: number, limit: number) {
  return sql
    .selectFrom('erasures')
    .select(['id', 'lead_id', raw<string>`certificate #>> '{journal,sha256}'`.as('sha256')])
    .where('id', '>', after)
    .where(raw<boolean>`certificate #>> '{journal,sha256}' is not null`)
    .orderBy('id')
    .limit(limit)
    .execute()
}

async function hashesIn(journal: Journal | undefined): Promise<Set<string>> {
  const hashes = new Set<string>()
  if (journal !== undefined) for await (const { sha256 } of journal.read()) hashes.add(sha256)
  return hashes
}

/**
 * Writes the lines that are missing again, from the record, in a transaction; their certificates then name these. What a
 * restored record does not know of is lost with the journal.
 *
 * @returns the leads.
 */
export async function rebuildLines(trx: Sql, journal: Journal): Promise<number[]> {
  const { missing } = await compareLines(trx, journal)
  const intent = randomUUID()
  for (let start = 0; start < missing.length; start += PAGE) {
    const ids = missing.slice(start, start + PAGE).map(({ id }) => id)
    const erased = await erasedLines(trx, ids, intent)
    const journaled = await journal.append(erased.map(({ line }) => line))
    for (const [index, { id }] of erased.entries()) await nameLine(trx, id, journaled[index])
  }
  return missing.map(({ lead_id: leadId }) => leadId)
}

async function erasedLines(sql: Sql, erasureIds: readonly number[], intent: string) {
  const { id: deployment } = await sql.selectFrom('deployment').select('id').executeTakeFirstOrThrow()
  const rows = await sql
    .selectFrom('erasures')
    .innerJoin('lead_events', 'lead_events.lead_id', 'erasures.lead_id')
    .select(['erasures.id', 'erasures.lead_id', 'erased_at', 'lead_events.id as event_id'])
    .where('erasures.id', 'in', erasureIds)
    .where('lead_events.position', '=', 1)
    .orderBy('erasures.id')
    .execute()
  return rows.map(({ id, erased_at: erasedAt, lead_id, event_id }) => {
    const at = (erasedAt ?? new Date()).toISOString()
    const line: JournalLine = { step: 'erased', intent, deployment, lead_id, event_id, at }
    return { id, line }
  })
}

async function nameLine(trx: Sql, erasureId: number, journal: Journaled | undefined): Promise<void> {
  await trx
    .updateTable('erasures')
    .set({ certificate: raw<Certificate>`certificate || ${JSON.stringify({ journal })}::jsonb` })
    .where('id', '=', erasureId)
    .execute()
}
