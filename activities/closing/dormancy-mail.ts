import type { Logger } from 'pino'
import type { Digest } from '../../src/capabilities/closing/statements/dormancy.ts'
import { formatTimestamp } from '../../src/core/values/timestamps.ts'
import { hasTold, mailBoth, type Mailed } from '../mail-both.ts'
import type { Mailer } from '../mailer.ts'

/** How many leads an email names. */
const NAMED = 200

interface Dependencies {
  mailer: Mailer
  staffEmail: string | undefined
  log: Pick<Logger, 'warn'>
}

/** Emails a partner, and staff, about leads in which nothing happens; a repeat has the same Message-IDs. */
export function dormancyTeller({ mailer, staffEmail, log }: Dependencies) {
  /** Of this process: staff are not told again each time that a partner's address is refused. */
  const sent = new Set<string>()
  return async (digest: Digest): Promise<boolean> => {
    const { partnerId, month, generation, contactEmail, leadIds } = digest
    const texts = describeDormancy(digest)
    const id = `dormancy-${partnerId}-${month}-${generation}`
    // one that cannot be told must not keep the others from their emails
    const mail = await mailBoth(
      mailer,
      { id, partner_id: partnerId },
      { partner: contactEmail, staff: staffEmail },
      texts,
      sent,
    ).catch((): Mailed => ({ partner: 'failed', staff: 'failed' }))
    log.warn({ notice: 'dormancy', partner_id: partnerId, leads: leadIds.length, mail }, texts.subject)
    return hasTold(mail)
  }
}

/** It names leads by their ids only. */
function describeDormancy({ partnerId, name, leadIds, closesAt }: Digest) {
  const count = leadIds.length === 1 ? '1 lead' : `${leadIds.length} leads`
  const rest = leadIds.length - NAMED
  const ids = `${leadIds.slice(0, NAMED).join(', ')}${rest > 0 ? `, and ${rest} more: list-leads and get-lead show them` : ''}`
  const what = [
    `For a long time, nothing has happened in ${count}: no milestone was recorded, and escrow_funded was never reached.`,
    `lead_id: ${ids}`,
    `They will be closed after ${formatTimestamp(closesAt)} UTC, for good. A lead in which a milestone is recorded before that stays open.`,
  ]
  return {
    subject: `Nothing happens in ${count}, which will be closed: ${name}`,
    forPartner: [
      `Hello ${name},`,
      ...what,
      'To keep another one, call close-lead with its lead_id and "cancel": true.',
    ].join('\n\n'),
    forStaff: [
      `Partner ${partnerId}, ${name}.`,
      ...what,
      'To keep one: npm run staff -- closing cancel LEAD',
      `To keep all of the partner's leads from now on: npm run staff -- partner dormancy ${partnerId} off`,
    ].join('\n\n'),
  }
}
