import { sql as raw } from 'kysely'
import type { JournalLine } from '../decisions/erasure.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { checkErasures } from './check.ts'
import { eraseLeads } from './erase.ts'
import { endOpenIntents } from './intents.ts'
import type { ErasureTools, Journaled } from './journal.ts'
import { lackingLines } from './journal-lines.ts'

/** Leads that are looked up, and erased, at a time. */
const PAGE = 200

export interface AppliedJournal {
  /** Lines of this deployment that say that a lead was erased. */
  lines: number
  /** Leads that the record still had, and that are erased now. */
  erased: number[]
  /** Leads that the record says are held: they are not. */
  held: number[]
  /** Leads of which nobody knows whether they were erased: they are not. */
  unknown: number[]
}

/**
 * Erases again what a restored record still has: every lead that the journal says was erased. A lead is meant if it has
 * the same `lead_received` event: another one may have been given its id. Intents without an end are ended first, by the
 * record; one that the record does not know is never carried out. Changes nothing where nothing was restored.
 *
 * @param onPage is called now and then.
 * @throws {Error} if the journal lacks lines that certificates name.
 */
export async function applyJournal(
  sql: Sql,
  tools: ErasureTools,
  onPage: () => void = () => {},
): Promise<AppliedJournal> {
  const applied: AppliedJournal = { lines: 0, erased: [], held: [], unknown: [] }
  const remedy = await lackingLines(sql, tools)
  if (remedy !== undefined) throw new Error(remedy)
  const { journal } = tools
  const own = await sql.selectFrom('deployment').select('id').executeTakeFirst()
  if (journal === undefined || own === undefined) return applied
  applied.unknown = leadsOf(await endOpenIntents(sql, journal))
  let page: Line[] = []
  const applyPage = async () => {
    const { erased, held } = await apply(sql, page, tools)
    applied.lines += page.length
    applied.erased.push(...erased)
    applied.held.push(...held)
    page = []
    onPage()
  }
  for await (const line of journal.read()) {
    if (line.deployment === own.id && line.step === 'erased') page.push(line)
    if (page.length === PAGE) await applyPage()
  }
  if (page.length > 0) await applyPage()
  return applied
}

type Line = JournalLine & Journaled

/** The ids of the lines' leads, each once. */
export const leadsOf = (lines: readonly JournalLine[]): number[] => [
  ...new Set(lines.map(({ lead_id: leadId }) => leadId)),
]

async function apply(sql: Sql, lines: readonly Line[], tools: ErasureTools) {
  const leads = await leadsNotErased(sql, lines)
  const isHeld = (lead: (typeof leads)[number]) => lead.held_at !== null
  const held = leads.filter(isHeld).map(({ id }) => id)
  const ids = leads.filter((lead) => !isHeld(lead)).map(({ id }) => id)
  const erasing = { by: 'journal', reason: 'journal' as const }
  const journaled = new Map(
    lines.map(({ lead_id: leadId, file, sha256, intent }) => [leadId, { file, sha256, intent }]),
  )
  const erased = await eraseLeads(sql, ids, tools, { ...erasing, journaled, isQuiet: true })
  await checkErasures(sql, erased)
  return { erased, held }
}

/** The leads of the lines that the record has and that are not erased. */
async function leadsNotErased(sql: Sql, lines: readonly JournalLine[]) {
  const eventIds = lines.map(({ event_id: eventId }) => eventId)
  return sql
    .selectFrom('leads')
    .innerJoin('lead_events', 'lead_events.lead_id', 'leads.id')
    .select(['leads.id', 'held_at'])
    .distinct()
    .where(raw<boolean>`lead_events.id = any(${eventIds})`)
    .where('lead_events.position', '=', 1)
    .where('erased_at', 'is', null)
    .execute()
}
