import type { changeToAnnounce } from '../../src/capabilities/self-service/statements/announced-changes.ts'
import { CHANGE_DELAY_HOURS } from '../../src/core/endpoints/decisions/endpoint-change.ts'
import { formatTimestamp } from '../../src/core/values/timestamps.ts'

type Change = NonNullable<Awaited<ReturnType<typeof changeToAnnounce>>>

/** The mails about a change that a key of the partner asked for. They hold no secret and no path of a URL. */
export function describeChange(change: Change): { subject: string; forPartner: string; forStaff: string } {
  const { partnerId, name, kind, requestedBy, requestedAt } = change
  const subject =
    kind === 'url' ? 'Your webhook endpoint is going to change' : 'Your signing secret is going to change'
  const what = (whose: string) => [
    `On ${formatTimestamp(requestedAt)} UTC, somebody with ${whose} (${requestedBy}) asked for this change:`,
    details(change),
    `It takes effect ${CHANGE_DELAY_HOURS} hours after this email.`,
  ]
  return {
    subject: `${subject}: ${name}`,
    forPartner: [
      `Hello ${name},`,
      ...what('an API key of yours'),
      'If you know about it, no action is needed. If you do not, contact us before then: we can cancel the change and revoke the key. Until then, webhooks go to the current endpoint with the current secret.',
    ].join('\n\n'),
    forStaff: [
      `Partner ${partnerId}, ${name}.`,
      ...what('an API key of the partner'),
      `To cancel it: npm run staff -- endpoint cancel-change ${partnerId}`,
      `To revoke the key: npm run staff -- key revoke ${requestedBy.replace('key ', '')}`,
    ].join('\n\n'),
  }
}

function details({ kind, url, currentUrl, overlapHours }: Change): string {
  if (kind === 'secret') {
    const then = overlapHours === 0 ? 'stops signing then' : `also signs for ${overlapHours} hours after that`
    return [`  new secret      the caller has received it`, `  current secret  ${then}`].join('\n')
  }
  const to = url === null ? '' : new URL(url).origin
  const from = currentUrl === null ? 'none' : new URL(currentUrl).origin
  return [`  from  ${from}`, `  to    ${to}, with a signing secret of its own`].join('\n')
}
