import { beforeAll, describe, expect, it } from '@jest/globals'
import { resumeEndpoint, endpointOf } from '../support/endpoint-states.ts'
import { leadsOf } from '../support/leads.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { startReplay } from '../../src/core/deliveries/workflows/replay.ts'
import { createEndpointStarter } from '../../src/core/endpoints/workflows/endpoints.ts'
import { until } from '../support/until.ts'

const LEADS = 14

/** One worker is killed once, while one partner's endpoint drains and another's webhooks are replayed. */
describe('a worker that is killed in the middle of a drain and of a replay', () => {
  let service: Service
  let drained: TestPartner
  let replayed: TestPartner
  let heldLeads: number[]
  let replayedLeads: number[]

  beforeAll(async () => {
    service = await prepareService()
    ;[drained, replayed] = await Promise.all([service.addPartner(), service.addPartner()])
    const pause = service.sql
      .updateTable('endpoints')
      .set({ state: 'paused', paused_by: 'staff', reason: 'staff' })
    await pause.where('partner_id', '=', drained.id).execute()
    const first = await service.startWorker()
    heldLeads = await newLeads(drained, LEADS)
    replayedLeads = await newLeads(replayed, 5)
    await replayed.endpoint.until((arrivals) => arrivals.length === 10)
    await Promise.all(replayedLeads.map((leadId) => delivered(leadId, 2)))

    await resumeEndpoint(service.sql, drained.id)
    await createEndpointStarter(service.client)((await endpointOf(service, drained).row()).id)
    const before = new Date(Date.now() + 1000).toISOString()
    const filter = {
      partnerId: replayed.id,
      states: ['delivered' as const],
      since: null,
      until: null,
      settledBefore: before,
    }
    await startReplay(service.client, filter, 10)
    await Promise.all([
      drained.endpoint.until((arrivals) => arrivals.length >= LEADS / 2),
      replayed.endpoint.until((arrivals) => arrivals.length >= 13),
    ])
    await first.kill()
    await service.startWorker()
    // new events come in while it drains
    await Promise.all(heldLeads.map((leadId) => service.referrals.signal(leadId, 'escrow_funded')))
  }, 90_000)

  async function newLeads(partner: TestPartner, count: number): Promise<number[]> {
    const leads = leadsOf(service, partner)
    return Promise.all(
      Array.from({ length: count }, async () => {
        const leadId = await leads.start()
        await service.referrals.signal(leadId, 'contract_signed')
        await leads.recorded(leadId, 'contract_signed')
        return leadId
      }),
    )
  }
  /** Counted rather than "none is open": an event that is not recorded yet has no delivery to wait for. */
  const delivered = (leadId: number, count: number) =>
    until(async () => {
      const settled = service.sql.selectFrom('deliveries').select('event_id').where('lead_id', '=', leadId)
      return (await settled.where('state', '=', 'delivered').execute()).length === count
    })
  /** The sequences in the order in which they arrived first. */
  const orderOf = (partner: TestPartner, leadId: number, from = 0) => [
    ...new Set(
      partner.endpoint.arrivals
        .slice(from)
        .filter(({ event }) => event.data.lead_id === leadId)
        .map(({ event }) => event.data.sequence),
    ),
  ]

  it('drains completely and in order', async () => {
    await endpointOf(service, drained).is('active')
    await Promise.all(heldLeads.map((leadId) => delivered(leadId, 3)))
    for (const leadId of heldLeads) expect(orderOf(drained, leadId)).toEqual([1, 2, 3])
    const { length: sent } = drained.endpoint.arrivals
    // what was in flight is sent once more: at most the ten that an endpoint is given at a time
    expect(sent - 3 * LEADS).toBeLessThanOrEqual(10)
  }, 60_000)

  it('replays completely and in order, the one that was in flight once more at most', async () => {
    const result = await service.client.workflow.getHandle(`replay-${replayed.id}`).result()
    expect(result).toMatchObject({ total: 10, delivered: 10, failed: 0 })
    for (const leadId of replayedLeads) expect(orderOf(replayed, leadId, 10)).toEqual([1, 2])
    expect(replayed.endpoint.arrivals.length).toBeLessThanOrEqual(21)
  }, 60_000)
})
