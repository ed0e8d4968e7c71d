import { defineEntity, p } from '@mikro-orm/core'
import { instant, oneOf } from '../../database/columns.ts'

/** Why a borrower gets no onboarding mail. `address_limit`: the address got as many as an address may. */
export const mailRefusals = ['address_limit'] as const
export type MailRefusal = (typeof mailRefusals)[number]

/**
 * A lead's claim to an onboarding mail: whether it may be sent. `leads.onboarding_sent_at` says that it was. It
 * is made under a lock on the lead, so it needs no foreign key.
 */
export const OnboardingMail = defineEntity({
  name: 'OnboardingMail',
  tableName: 'onboarding_mails',
  properties: {
    leadId: p.integer().primary().autoincrement(false),
    partnerId: p.integer(),
    /** By which mails to one address are counted, for 24 hours: HMAC-SHA256 under a key that only the worker can derive. */
    addressHash: p.text().nullable(),
    claimedAt: instant(),
    /** Only one process sends it until then; from then on, or without it, another may. */
    sendingUntil: instant().nullable(),
    refused: p.text().$type<MailRefusal>().nullable(),
  },
  checks: [{ name: 'onboarding_mails_refused_check', expression: oneOf('refused', mailRefusals) }],
  indexes: [
    {
      name: 'onboarding_mails_address_index',
      expression:
        'create index onboarding_mails_address_index on onboarding_mails (address_hash, claimed_at) where address_hash is not null',
    },
    {
      name: 'onboarding_mails_counted_index',
      expression:
        'create index onboarding_mails_counted_index on onboarding_mails (claimed_at) where address_hash is not null',
    },
  ],
})
