import type { erasureToTell } from '../../src/capabilities/erasure/statements/requests.ts'
import { describeErasureReason } from '../../src/core/leads/decisions/reasons.ts'
import { formatTimestamp } from '../../src/core/values/timestamps.ts'
import { againstKey } from '../against-key.ts'

type Facts = NonNullable<Awaited<ReturnType<typeof erasureToTell>>>

/** The emails about an erasure. They name the lead by its id only. */
export function describeErasure(facts: Facts): { subject: string; forPartner: string; forStaff: string } {
  const { leadId, partnerId, name, isAnnounced, dueAt } = facts
  const subject = isAnnounced ? `Lead ${leadId} is going to be erased` : `Lead ${leadId} is erased`
  const what = [
    isAnnounced
      ? `It will be carried out on ${formatTimestamp(dueAt)} UTC, and cannot be undone.`
      : 'It is carried out now, and cannot be undone.',
    'Name, email address, phone number, notes and metadata are deleted, and no more webhooks are sent. The lead’s id and its milestones are kept.',
  ]
  return {
    subject: `${subject}: ${name}`,
    forPartner: [
      `Hello ${name},`,
      asked(facts, { withKey: 'somebody with an API key of yours', other: 'our staff' }),
      ...what,
      ...(isAnnounced ? ['If you do not know about it, contact us before then: we can cancel it.'] : []),
    ].join('\n\n'),
    forStaff: [
      `Partner ${partnerId}, ${name}.`,
      asked(facts, { withKey: 'somebody with an API key of the partner', other: facts.requestedBy }),
      ...what,
      ...(isAnnounced
        ? [
            `To cancel it: npm run staff -- erasure cancel ${leadId}`,
            ...againstKey(facts.requestedBy, 'erasure'),
            `To keep the data because the law requires it: npm run staff -- lead hold ${leadId} --reason legal_obligation`,
          ]
        : [`Certificate: npm run staff -- erasure show ${leadId}`]),
    ].join('\n\n'),
  }
}

function asked(
  { leadId, requestedBy, requestedAt, reason }: Facts,
  { withKey, other }: { withKey: string; other: string },
): string {
  const who = requestedBy.startsWith('key ') ? `${withKey} (${requestedBy})` : other
  const why = reason === null ? '' : ` Reason: ${describeErasureReason(reason)}.`
  return `On ${formatTimestamp(requestedAt)} UTC, ${who} requested the erasure of the personal data of lead ${leadId}.${why}`
}
