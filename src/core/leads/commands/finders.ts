import type { StaffContext } from '../../../staff/context.ts'
import {
  leadById,
  leadByWebhook,
  leadsByEmail,
  leadsByPartnerLeadId,
  type Within,
} from '../statements/find-leads.ts'

/** A way to find leads by what a partner or a log names. */
interface Finder {
  /** What it takes TEXT for. */
  kind: string
  /** Where it looks, for somebody who found nothing. */
  where: string
  /** Whether TEXT can be that. */
  recognizes: (text: string) => boolean
  /** Ids of leads, the newest first. */
  find: (context: StaffContext, text: string, within: Within) => Promise<number[]>
}

const LEAD = /^(?:lead-)?([1-9]\d{0,9})$/
const WEBHOOK = /^(?:evt|att)_[0-9a-f-]{36}$/
const EMAIL = /^[^\s@]+@[^\s@]+$/

/** Any text may be a partner's own id. */
export const finders: readonly Finder[] = [
  {
    kind: 'lead id',
    where: 'lead ids',
    recognizes: (text) => LEAD.test(text),
    find: ({ sql }, text, within) => leadById(sql, Number(LEAD.exec(text)?.[1]), within),
  },
  {
    kind: 'webhook',
    where: 'ids of events, which are the webhook-ids, and of attempts',
    recognizes: (text) => WEBHOOK.test(text),
    find: ({ sql }, text, within) => leadByWebhook(sql, text, within),
  },
  {
    kind: 'email',
    where: 'email addresses of leads that are not erased',
    recognizes: (text) => EMAIL.test(text),
    find: async (context, text, within) =>
      leadsByEmail({ sql: context.sql, encryptionKeys: await context.openingKeys() }, text, within),
  },
  {
    kind: 'partner_lead_id',
    where: 'partner_lead_id of all partners, in the same upper and lower case',
    recognizes: () => true,
    find: ({ sql }, text, within) => leadsByPartnerLeadId(sql, text, within),
  },
]
