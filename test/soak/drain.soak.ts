import { beforeAll, describe, expect, it } from '@jest/globals'
import { recordMilestones } from '../../src/core/leads/statements/recording.ts'
import type { SignalledMilestone } from '../../src/core/leads/decisions/milestones.ts'
import { createEndpointStarter } from '../../src/core/endpoints/workflows/endpoints.ts'
import { webhookBody } from '../../src/core/deliveries/webhooks/body.ts'
import { resumeEndpoint, endpointOf, putEndpoints } from '../support/endpoint-states.ts'
import { leadsOf } from '../support/leads.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'

const LEADS = Number(process.env.SOAK_LEADS ?? 3000)
const HELD_OF_EACH: SignalledMilestone[] = ['client_account_created', 'credit_scan_completed']
const NEW_EVERY_MS = 200
const HOUR_MS = 3_600_000

describe(`${LEADS} leads with events held for a paused endpoint`, () => {
  let service: Service
  let partner: TestPartner
  let endpoint: ReturnType<typeof endpointOf>
  let leadIds: number[]

  beforeAll(async () => {
    service = await prepareService()
    partner = await service.addPartner()
    endpoint = endpointOf(service, partner)
    await putEndpoints(service.sql, 'paused', { by: 'service' })
    const { commit } = leadsOf(service, partner)
    leadIds = []
    while (leadIds.length < LEADS) {
      leadIds.push(...(await Promise.all(Array.from({ length: 10 }, () => hold(commit)))))
    }
    // their workflows ended while it was paused: each is started from the record
    await service.sql.updateTable('leads').set({ workflow_started_at: new Date() }).execute()
  }, HOUR_MS)

  async function hold(commit: () => Promise<number>): Promise<number> {
    const leadId = await commit()
    // a third has one more: 10,000 of 3,000 leads
    const names = leadId % 3 === 0 ? [...HELD_OF_EACH, 'contract_signed' as const] : HELD_OF_EACH
    const items = names.map((name) => ({ name, dedupeKey: name }))
    await recordMilestones(service.sql, leadId, items, (facts) =>
      webhookBody({ ...facts, environment: 'sandbox' }),
    )
    return leadId
  }

  it(
    'drain completely and in order of each lead, while new events come in',
    async () => {
      const held = await endpoint.open()
      await service.startWorker()
      await resumeEndpoint(service.sql, partner.id)
      const began = Date.now()
      await createEndpointStarter(service.client)((await endpoint.row()).id)
      let added = 0
      while ((await endpoint.row()).state !== 'active') {
        const leadId = leadIds[(added * 7919) % LEADS]!
        await service.referrals.signal(leadId, 'client_engaged_in_chat')
        await service.referrals.signal(leadId, 'escrow_funded')
        added += 1
        await new Promise((resolve) => setTimeout(resolve, NEW_EVERY_MS))
      }
      const seconds = (Date.now() - began) / 1000
      while ((await endpoint.open()) > 0) await new Promise((resolve) => setTimeout(resolve, 200))
      const order = new Map<number, number[]>()
      for (const { event } of partner.endpoint.arrivals) {
        order.set(event.data.lead_id, [...(order.get(event.data.lead_id) ?? []), event.data.sequence])
      }
      expect(order.size).toBe(LEADS)
      for (const sequences of order.values()) {
        expect(sequences).toEqual(sequences.map((_, index) => index + 1))
      }
      expect(partner.endpoint.arrivals.length).toBeGreaterThanOrEqual(held)
      process.stdout.write(
        `${held} held webhooks of ${LEADS} leads drained in ${seconds.toFixed(0)} s (${(held / seconds).toFixed(0)}/s), ` +
          `with ${added} new ones; ${partner.endpoint.arrivals.length} requests in all\n`,
      )
    },
    HOUR_MS,
  )
})
