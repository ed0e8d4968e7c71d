import { type Broken, brokenBy } from './check.ts'
import type { RecordFacts } from './facts.ts'
import type { Borrower, Journal, Load, Sent } from './load.ts'
import { missingMilestones } from './probe.ts'

interface LostLead {
  leadId: number
  borrower: Borrower
  at: number
}

/** What was acknowledged before the strike and is not in the record right after the recovery. */
export interface Loss {
  leads: LostLead[]
  /** Of leads that are in the record. */
  milestones: Sent[]
  /** How far back the loss reaches from the strike. */
  seconds: number
  broken: Broken[]
}

/**
 * Finds what was lost since the last strike, and notes the leads in the journal.
 *
 * @param moments of the strike, and from when on nothing of before was answered any more.
 */
export function lossOf(
  journal: Journal,
  record: RecordFacts,
  { struckAt, deadAt }: { struckAt: number; deadAt: number },
): Loss {
  const acked = journal.borrowers.flatMap((borrower) => borrower.acks.map((ack) => ({ ...ack, borrower })))
  const before = acked.filter(({ leadId, at }) => at <= deadAt && !journal.lost.has(leadId))
  const leads = before.filter(({ leadId }) => !record.leads.has(leadId))
  const kept = before.filter(({ leadId }) => record.leads.has(leadId))
  for (const { leadId } of leads) journal.lost.add(leadId)
  const milestones = missingMilestones(journal, record).filter(({ at }) => at <= deadAt)
  const times = [...leads, ...milestones].map(({ at }) => at)
  const latestKept = Math.max(...kept.map(({ borrower }) => borrower.sentAt))
  const holes = leads.filter(({ at }) => at < latestKept).map(({ leadId }) => `lead ${leadId}`)
  return {
    leads,
    milestones,
    seconds: Math.max(0, ...times.map((at) => (struckAt - at) / 1000)),
    broken: brokenBy('what is lost is the latest', holes),
  }
}

/** The partner repeats the create-lead of half of its borrowers who were lost, and of as many others. */
export async function repeatCreates(load: Load, { leads }: Loss): Promise<void> {
  const lost = leads.filter((_, index) => index % 2 === 0).map(({ borrower }) => borrower)
  const others = load.journal.borrowers.filter((one) => one.acks.length === 1 && !lost.includes(one))
  await Promise.all([...lost, ...others.slice(0, lost.length)].map((borrower) => load.create(borrower)))
}

/** The lost leads whose borrowers have no other lead. */
export function notCreatedAgain({ leads }: Loss, record: RecordFacts): LostLead[] {
  return leads.filter(({ borrower }) => !borrower.acks.some(({ leadId }) => record.leads.has(leadId)))
}
