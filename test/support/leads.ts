import { insertLead } from './insert-lead.ts'
import type { Sql } from '../../src/database/sql.ts'
import { findEvents } from '../../src/leads/get-events.ts'
import { eachField, optionalFields } from '../../src/leads/lead-fields.ts'
import type { MilestoneName } from '../../src/leads/milestones.ts'
import { recordMilestones } from '../../src/leads/record-milestones.ts'
import { webhookBody } from '../../src/webhooks/body.ts'
import type { Service, TestPartner } from './service.ts'
import { until } from './until.ts'

export const LEAD = {
  first_name: 'Ada',
  last_name: 'Miller',
  email: 'ada@example.com',
  phone: '555-0100',
  ...eachField(optionalFields, () => null),
}

export const GAINS = {
  experian_gain: 12,
  equifax_gain: 8,
  transunion_gain: -1,
  estimated_time_remaining: '30-60 days',
}

const toBody = webhookBody('sandbox')

/** Records milestones of a lead of which its workflow is not told. */
export const record = (sql: Sql, leadId: number, ...names: MilestoneName[]) =>
  recordMilestones(
    sql,
    leadId,
    names.map((name) => ({ name, dedupeKey: name })),
    toBody,
  )

/** A partner's leads as a test looks at them: the record, and what has arrived at the endpoint. */
export function leadsOf(
  { sql, referrals, encryptionKeys }: Pick<Service, 'sql' | 'referrals' | 'encryptionKeys'>,
  partner: TestPartner,
) {
  /** Commits a lead as create-lead does; its workflow is not started. */
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
