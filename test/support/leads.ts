import { insertLead } from './insert-lead.ts'
import { findEvents } from '../../src/leads/get-events.ts'
import { eachField, optionalFields } from '../../src/leads/lead-fields.ts'
import { webhookBody, type WebhookFacts } from '../../src/webhooks/body.ts'
import type { Service, TestPartner } from './service.ts'
import { until } from './until.ts'

export const LEAD = {
  first_name: 'Ada',
  last_name: 'Miller',
  email: 'ada@example.com',
  phone: '555-0100',
  ...eachField(optionalFields, () => null),
}

/** A partner's leads as a test looks at them: the record, and what has arrived at the endpoint. */
export function leadsOf(
  { sql, referrals, encryptionKeys }: Pick<Service, 'sql' | 'referrals' | 'encryptionKeys'>,
  partner: TestPartner,
) {
  /** Commits a lead as create-lead does; its workflow is not started. */
  const toBody = (facts: WebhookFacts) => webhookBody({ ...facts, environment: 'sandbox' })
  const commit = () =>
    sql.transaction().execute((trx) => insertLead(trx, partner.id, LEAD, toBody, encryptionKeys))
  const names = async (leadId: number) =>
    ((await findEvents(sql, partner.id, leadId)) ?? []).map((event) => event.event_name)
  return {
    commit,
    names,
    async start() {
      const leadId = await commit()
      await referrals.startFromRecord(leadId)
      return leadId
    },
    recorded: (leadId: number, name: string, count = 1) =>
      until(async () => (await names(leadId)).filter((event) => event === name).length >= count),
    arrivals: (leadId: number) =>
      partner.endpoint.arrivals.filter(({ event }) => event.data.lead_id === leadId),
  }
}
