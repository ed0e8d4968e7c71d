import { sql as raw } from 'kysely'
import { intentOutcome, type JournalLine } from '../decisions/erasure.ts'
import type { Sql } from '../../../core/database/orm.ts'
import type { Journal } from './journal.ts'
import { forgetIntents } from './with-intent.ts'

/** Leads that are looked up at a time. */
const PAGE = 200

/**
 * Ends the intents of this deployment that have no end in the journal, by what the record knows of them. Leaves alone those
 * whose lead is locked: their transactions may be under way.
 *
 * @returns those of which the record knows nothing, because it was restored from before them.
 */
export async function endOpenIntents(sql: Sql, journal: Journal): Promise<JournalLine[]> {
  const { open, deployment } = await openIntents(sql, journal)
  const unknown: JournalLine[] = []
  const ended = new Set<string>()
  for (let start = 0; start < open.length; start += PAGE) {
    const page = await sql
      .transaction()
      .execute(async (trx) => outcomesOf(trx, open.slice(start, start + PAGE), { isLocking: true }))
    const ends = page.flatMap(({ line, outcome }) =>
      outcome === 'unknown' ? [] : { ...line, step: outcome },
    )
    await endIntents(journal, ends)
    for (const line of ends) ended.add(keyOf(line))
    unknown.push(...page.flatMap(({ line, outcome }) => (outcome === 'unknown' ? line : [])))
  }
  if (deployment !== undefined) await forgetNotes(sql, open, ended)
  return unknown
}

/** Intents of which the record knows nothing; changes nothing. */
export async function unknownIntents(sql: Sql, journal: Journal): Promise<JournalLine[]> {
  const { open } = await openIntents(sql, journal)
  const unknown: JournalLine[] = []
  for (let start = 0; start < open.length; start += PAGE) {
    const page = await outcomesOf(sql, open.slice(start, start + PAGE), { isLocking: false })
    unknown.push(...page.flatMap(({ line, outcome }) => (outcome === 'unknown' ? line : [])))
  }
  return unknown
}

/** Writes the ends of intents, with the step that each line has. */
export async function endIntents(journal: Journal, ends: readonly JournalLine[]): Promise<void> {
  const at = new Date().toISOString()
  await journal.append(ends.map((line) => ({ ...line, at })))
}

const keyOf = ({ intent, lead_id: leadId }: JournalLine) => `${intent}:${leadId}`

/** An end may be in a file that is read before the intent's. */
async function openIntents(sql: Sql, journal: Journal) {
  const own = await sql.selectFrom('deployment').select('id').executeTakeFirst()
  const intents = new Map<string, JournalLine>()
  const ended = new Set<string>()
  for await (const { step, intent, deployment, lead_id, event_id, at } of journal.read()) {
    const line = { step, intent, deployment, lead_id, event_id, at }
    if (deployment !== own?.id) continue
    if (step === 'intent') intents.set(keyOf(line), line)
    else ended.add(keyOf(line))
  }
  const open = [...intents].flatMap(([key, line]) => (ended.has(key) ? [] : line))
  return { open, deployment: own?.id }
}

async function outcomesOf(sql: Sql, lines: readonly JournalLine[], { isLocking }: { isLocking: boolean }) {
  const leadIds = lines.map(({ lead_id: leadId }) => leadId)
  const there = await idsOf(sql, leadIds)
  const ended = isLocking ? await lockEnded(sql, leadIds) : there
  // statements of their own, after the lock: they see what has committed
  const leads = await readLeads(sql, lines)
  const noted = await readNotes(sql, lines)
  return lines
    .filter(({ lead_id: leadId }) => ended.has(leadId) || !there.has(leadId))
    .map((line) => {
      const lead = leads.get(line.event_id)
      return { line, outcome: intentOutcome(line.intent, { lead, isNoted: noted.has(line.intent) }) }
    })
}

/** The events of the lines that the record has. Without its event, a lead of the same id is another borrower's. */
export async function eventsThere(sql: Sql, lines: readonly JournalLine[]): Promise<Set<string>> {
  const ids = lines.map(({ event_id: eventId }) => eventId)
  const rows = await sql
    .selectFrom('lead_events')
    .select('id')
    .where(raw<boolean>`id = any(${ids})`)
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** Those of the leads that the record has. */
async function idsOf(sql: Sql, leadIds: readonly number[]): Promise<Set<number>> {
  if (leadIds.length === 0) return new Set()
  const rows = await sql.selectFrom('leads').select('id').where('id', 'in', leadIds).execute()
  return new Set(rows.map(({ id }) => id))
}

async function lockEnded(trx: Sql, leadIds: readonly number[]): Promise<Set<number>> {
  const rows = await trx
    .selectFrom('leads')
    .select('id')
    .where('id', 'in', leadIds)
    .orderBy('id')
    .forUpdate()
    .skipLocked()
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** By the event of the intent: another lead may have got the id since. */
async function readLeads(sql: Sql, lines: readonly JournalLine[]) {
  const eventIds = lines.map(({ event_id: eventId }) => eventId)
  const rows = await sql
    .selectFrom('lead_events')
    .innerJoin('leads', 'leads.id', 'lead_events.lead_id')
    .leftJoin('erasures', (join) =>
      join.onRef('erasures.lead_id', '=', 'leads.id').on('erasures.canceled_at', 'is', null),
    )
    .select('lead_events.id as eventId')
    .select(raw<boolean>`leads.erased_at is not null`.as('isErased'))
    .select(raw<string | null>`certificate #>> '{journal,intent}'`.as('certified'))
    .where(raw<boolean>`lead_events.id = any(${eventIds})`)
    .execute()
  return new Map(rows.map(({ eventId, ...lead }) => [eventId, lead]))
}

async function readNotes(sql: Sql, lines: readonly JournalLine[]): Promise<Set<string>> {
  const intents = lines.map(({ intent }) => intent)
  const rows = await sql.selectFrom('erasure_intents').select('id').where('id', 'in', intents).execute()
  return new Set(rows.map(({ id }) => id))
}

/**
 * Forgets the notes that no line needs: of intents that have ended for all their leads, and of processes that were killed
 * before they wrote a line. Without its note, what is left of an intent would be unknown.
 */
async function forgetNotes(sql: Sql, open: readonly JournalLine[], ended: Set<string>): Promise<void> {
  const needed = new Set(open.filter((line) => !ended.has(keyOf(line))).map(({ intent }) => intent))
  const done = open.map(({ intent }) => intent).filter((intent) => !needed.has(intent))
  await forgetIntents(sql, [...new Set(done)])
  await sql
    .deleteFrom('erasure_intents')
    .where('noted_at', '<', raw<Date>`clock_timestamp() - interval '1 day'`)
    .where(raw<boolean>`id <> all(${[...needed]})`)
    .execute()
}
