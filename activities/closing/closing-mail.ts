import type { closingToTell } from '../../src/capabilities/closing/statements/carry-out.ts'
import { describeCloseReason } from '../../src/core/leads/decisions/reasons.ts'
import { formatTimestamp } from '../../src/core/values/timestamps.ts'
import { againstKey } from '../against-key.ts'

type Facts = NonNullable<Awaited<ReturnType<typeof closingToTell>>>

/** The emails about a closing that a partner requested. They name the lead by its id only. */
export function describeClosing(facts: Facts): { subject: string; forPartner: string; forStaff: string } {
  const { leadId, partnerId, name, dueAt } = facts
  const what = `It will be closed on ${formatTimestamp(dueAt)} UTC, for good: from then on no milestones are recorded, and no more score updates are sent. Webhooks that are open by then are still sent.`
  return {
    subject: `Lead ${leadId} is going to be closed: ${name}`,
    forPartner: [
      `Hello ${name},`,
      asked(facts, 'somebody with an API key of yours'),
      what,
      'If you do not want that, call close-lead with "cancel": true before then, or contact us.',
    ].join('\n\n'),
    forStaff: [
      `Partner ${partnerId}, ${name}.`,
      asked(facts, 'somebody with an API key of the partner'),
      what,
      `To cancel it: npm run staff -- closing cancel ${leadId}`,
      ...againstKey(facts.requestedBy, 'closing'),
    ].join('\n\n'),
  }
}

function asked({ leadId, requestedBy, requestedAt, reason }: Facts, who: string): string {
  return `On ${formatTimestamp(requestedAt)} UTC, ${who} (${requestedBy}) requested that lead ${leadId} is closed. Reason: ${describeCloseReason(reason)}.`
}
