import { isFileFault } from '../../../core/values/file-fault.ts'
import { command, type InboxItem, type InboxSource } from '../../../staff/inbox.ts'
import type { StaffContext } from '../../../staff/context.ts'
import { eventsThere, unknownIntents } from '../statements/intents.ts'
import { erasureTools } from '../statements/journal.ts'
import { erasuresForStaff } from '../statements/waiting-for-staff.ts'

type Waiting = Awaited<ReturnType<typeof erasuresForStaff>>[number]

/** Erasures that staff have to decide about, that are overdue, or that nobody could be told of. */
export const erasuresInbox: InboxSource = {
  kind: 'erasures',
  find: async (context, limit) => {
    const unknown = await unknownOnes(context)
    const waiting = await erasuresForStaff(context.sql, limit)
    const items = [...unknown, ...waiting.map(itemOf)]
    return { items: items.slice(0, limit), total: unknown.length + (waiting[0]?.total ?? 0) }
  },
}

/** The other items are shown to whoever cannot read the journal, too. */
async function unknownOnes(context: StaffContext): Promise<InboxItem[]> {
  try {
    return await intentsWithoutEnd(context)
  } catch (error) {
    if (!isFileFault(error)) throw error
    const what = `The erasure journal cannot be read here: ${error.message}.`
    const mend = 'correct ERASURE_JOURNAL, or let your user read the folder'
    return [{ what, since: null, touches: {}, mend }]
  }
}

async function intentsWithoutEnd({ sql, config }: StaffContext): Promise<InboxItem[]> {
  const { journal } = erasureTools(config)
  const unknown = journal === undefined ? [] : await unknownIntents(sql, journal)
  const there = await eventsThere(sql, unknown)
  return unknown.map(({ lead_id: lead, event_id: event, at }) => ({
    since: new Date(at),
    ...decisionOn(lead, there.has(event)),
  }))
}

/** What staff can do about an erasure of which nobody knows whether it was carried out. */
function decisionOn(lead: number, isThere: boolean): Omit<InboxItem, 'since'> {
  const restored = `The record was restored from before the erasure of lead ${lead} began`
  if (!isThere) {
    const what = `${restored}, and from before the lead was created: there is nothing of it to erase.`
    return { what, touches: {}, mend: command(`erasure dismiss ${lead}`) }
  }
  const what = `${restored}, and nobody knows whether it was carried out. To keep the lead instead: "erasure dismiss ${lead}".`
  return { what, touches: { leads: 1 }, mend: erase(lead) }
}

const erase = (lead: number) => command(`lead erase ${lead} --reason borrower_request`)

function itemOf(erasure: Waiting): InboxItem {
  const { lead_id: lead, partner_id: partner, since } = erasure
  const of = `The erasure of lead ${lead} of partner ${partner}`
  const touches = { leads: 1 }
  if (erasure.is_untold) {
    const why = erasure.has_contact
      ? 'the mail server is away, or refuses the contact'
      : 'the partner has no contact'
    const what = `${of} waits until somebody is told by email: ${why}.`
    return { what, since, touches, mend: command(`partner contact ${partner} EMAIL`) }
  }
  const what = erasure.is_erased
    ? `${of} is carried out and not checked: erasure-${lead} in the Web UI says what fails.`
    : `${of} is overdue: erasure-${lead} in the Web UI says what fails.`
  return { what, since, touches, mend: erasure.is_erased ? command(`erasure show ${lead}`) : erase(lead) }
}
