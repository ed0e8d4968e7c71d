import type { lossesOf, readRestore } from '../../src/capabilities/restore/statements/restores.ts'
import { SEQUENCES_LEFT_OUT } from '../../src/core/leads/decisions/recording-decision.ts'
import { formatTimestamp } from '../../src/core/values/timestamps.ts'

type Restore = Awaited<ReturnType<typeof readRestore>>
type Loss = Awaited<ReturnType<typeof lossesOf>>[number]

/** More ids than these are counted. */
const MOST_LISTED = 50

/** The mails about a restored database: what it means for a partner, and what of its own was lost. Ids only. */
export function describeRestore(
  { id, name }: { id: number; name: string },
  { at, reached_until: until }: Restore,
  losses: readonly Loss[],
): { subject: string; forPartner: string; forStaff: string } {
  const moment = until === null ? '' : ` to its state of ${formatTimestamp(until)} UTC`
  const happened = `On ${formatTimestamp(at)} UTC, our database was restored${moment}.`
  const lost = [...lostLeads(losses), ...lostMilestones(losses)]
  return {
    subject: `Our database was restored: ${name}`,
    forPartner: [
      `Hello ${name},`,
      happened,
      ...(lost.length === 0 ? ['As far as we know, nothing of yours was lost.'] : lost),
      WHAT_IT_MEANS,
    ].join('\n\n'),
    forStaff: [
      `Partner ${id}, ${name}.`,
      happened,
      ...(lost.length === 0 ? ['As far as we know, nothing of this partner was lost.'] : lost),
      'To see all of it: npm run staff -- record show',
    ].join('\n\n'),
  }
}

const WHAT_IT_MEANS = [
  'What this means for your integration:',
  `- The sequence of a lead's webhooks is strictly increasing, as always, but its next webhook skips ${SEQUENCES_LEFT_OUT} numbers.`,
  '- You may receive webhooks again that you have. They have the same webhook-id.',
  '- If you poll list-events, your cursor may be refused. The error says where to go on.',
  '- Leads that you created, and changes that you sent with update-partner-info, within the last minutes before the failure may be lost: compare them with get-lead, and send them again.',
].join('\n')

function lostLeads(losses: readonly Loss[]): string[] {
  const ids = losses.filter(({ event_name: name }) => name === null).map(({ lead_id: leadId }) => leadId)
  if (ids.length === 0) return []
  const more = ids.length > MOST_LISTED ? ` and ${ids.length - MOST_LISTED} more` : ''
  const listed = `${ids.slice(0, MOST_LISTED).join(', ')}${more}`
  return [
    `These leads were lost, and their ids will not be used again: ${listed}. Please create them again with create-lead.`,
  ]
}

function lostMilestones(losses: readonly Loss[]): string[] {
  const count = losses.filter(({ event_name: name }) => name !== null).length
  if (count === 0) return []
  const events = count === 1 ? 'One event was lost and is' : `${count} events were lost and are`
  return [`${events} recorded again.`]
}
