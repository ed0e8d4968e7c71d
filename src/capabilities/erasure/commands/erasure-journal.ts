import { applyJournal } from '../statements/apply-journal.ts'
import { endIntents, eventsThere, unknownIntents } from '../statements/intents.ts'
import { lackingLines, rebuildLines } from '../statements/journal-lines.ts'
import { erasureTools, type Journal } from '../statements/journal.ts'
import type { StaffContext } from '../../../staff/context.ts'
import { Refusal } from '../../../staff/refusal.ts'

export async function apply(context: StaffContext) {
  const { folder } = journalOf(context)
  const { lines, erased, held, unknown } = await applied(context)
  return {
    json: { journal: folder, lines, erased, held, unknown },
    text: [
      appliedText(erased),
      `The journal in ${folder} says of ${lines} leads of this deployment that they were erased.`,
      ...heldText(held),
      ...unknownText(unknown),
    ].join('\n'),
    failed: held.length > 0 || unknown.length > 0,
  }
}

/** Erases what a record has again that was restored. */
export async function eraseAgain(context: StaffContext) {
  const { erased, held, unknown } = await applied(context)
  return {
    json: { erased, held, unknown },
    lines: [...(erased.length > 0 ? [appliedText(erased)] : []), ...heldText(held), ...unknownText(unknown)],
    failed: held.length > 0 || unknown.length > 0,
  }
}

async function applied(context: StaffContext) {
  await requireWholeJournal(context)
  return applyJournal(context.sql, erasureTools(context.config))
}

/** @throws {Refusal} if this is not the journal that the deployment's certificates name, or a part of it is missing. */
export async function requireWholeJournal({ sql, config }: StaffContext): Promise<void> {
  const remedy = await lackingLines(sql, erasureTools(config))
  if (remedy !== undefined) throw new Refusal(remedy)
}

/** Ends intents that nobody can decide about: the lead is kept. */
export async function dismiss(context: StaffContext, lead: number) {
  const journal = journalOf(context)
  const intents = (await unknownIntents(context.sql, journal)).filter(({ lead_id: id }) => id === lead)
  if (intents.length === 0)
    throw new Refusal(`It is known of lead ${lead} whether it was erased: see "erasure list".`)
  await context.act({ action: 'lead.dismiss_erasure', leadId: lead }, async () => {
    const ends = intents.map((line) => ({ ...line, step: 'void' as const }))
    return { result: await endIntents(journal, ends) }
  })
  const isThere = (await eventsThere(context.sql, intents)).size > 0
  const text = isThere ? `Lead ${lead} is kept.` : `Nothing waits for a decision about lead ${lead} any more.`
  return { json: { lead_id: lead, outcome: 'kept' }, text }
}

export async function rebuild(context: StaffContext) {
  const journal = journalOf(context)
  const leads = await context.change(async ({ sql, audit }) => {
    const rebuilt = await rebuildLines(sql, journal)
    if (rebuilt.length > 0) await audit({ action: 'erasure.rebuild_journal', detail: { lead_ids: rebuilt } })
    return rebuilt
  })
  return {
    json: { journal: journal.folder, rebuilt: leads },
    text:
      leads.length === 0
        ? `The journal in ${journal.folder} has all lines that certificates name.`
        : `Wrote ${leads.length} lines again to the journal in ${journal.folder}. A backup that is restored is erased again by them; erasures that this record does not know of are lost.`,
  }
}

function journalOf({ config }: StaffContext): Journal {
  const { journal } = erasureTools(config)
  if (journal === undefined) throw new Refusal('There is no erasure journal: set ERASURE_JOURNAL.')
  return journal
}

const appliedText = (erased: number[]) =>
  erased.length === 0
    ? 'Every lead of the erasure journal is erased.'
    : `Erased again what the record still had: leads ${erased.join(', ')}.`

/** The record says that they must be kept: staff decide. */
const heldText = (held: number[]) =>
  held.length === 0
    ? []
    : [
        `Not erased, because the record says that they are held: leads ${held.join(', ')}. If the hold was over before they were erased: lead release, then erasure apply.`,
      ]

const unknownText = (unknown: number[]) =>
  unknown.length === 0
    ? []
    : [
        `Not erased, because nobody knows whether they were erased before the restore: leads ${unknown.join(', ')}. See erasure list.`,
      ]
