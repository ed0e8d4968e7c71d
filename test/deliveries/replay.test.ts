import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { endpointsAtWork, reviewEndpoint } from '../../src/endpoints/endpoint-review.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { replay, type ReplayOptions, stop } from '../../src/deliveries/staff.ts'
import { auditOf, contextOf } from '../staff/context.ts'
import { fillDeliveries } from '../support/deliveries.ts'
import { endpointOf, putEndpoints } from '../support/endpoint-states.ts'
import { leadsOf } from '../support/leads.ts'
import type { TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'

describe('a replay of webhooks', () => {
  let service: SharedService
  let context: StaffContext
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>

  beforeAll(async () => {
    service = await sharedService()
    context = await contextOf(service.environment)
  }, 60_000)

  beforeEach(async () => {
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
  })

  /** A lead with three delivered webhooks whose workflow has ended. */
  async function endedLead(): Promise<number> {
    const leadId = await leads.start()
    await service.referrals.signal(leadId, 'contract_signed')
    await service.referrals.signal(leadId, 'escrow_funded')
    await partner.endpoint.until(() => leads.arrivals(leadId).length === 3)
    await service.referrals.close(leadId, 'other')
    await service.client.workflow.getHandle(`lead-${leadId}`).result()
    return leadId
  }
  const run = async (options: Partial<ReplayOptions> = {}) =>
    replay(context, { partner: partner.id, state: 'all', ...options })
  const replayed = (leadId: number) => leads.arrivals(leadId).filter((arrival) => arrival.replay === 'true')

  it('replays leads whose workflows have ended, each in order, with the same ids and bytes', async () => {
    const [first, second] = await Promise.all([endedLead(), endedLead()])
    await run()
    await endpointOf(service, partner).workflow.result()
    for (const leadId of [first, second]) {
      const originals = leads.arrivals(leadId).filter((arrival) => arrival.replay === undefined)
      expect(replayed(leadId).map(({ id, body }) => ({ id, body }))).toEqual(
        originals.map(({ id, body }) => ({ id, body })),
      )
      expect(replayed(leadId).every(({ verified }) => verified)).toBe(true)
    }
  })

  it('filters by state and time, also for a lead whose clock is ahead; with --dry-run it only counts', async () => {
    const [first = '', second = ''] = await fillDeliveries(service.sql, partner.id, 3, 'delivered')
    const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000)
    const move = (id: string, days: number) =>
      service.sql
        .updateTable('lead_events')
        .set({ created_at: daysFromNow(days) })
        .where('id', '=', id)
        .execute()
    await Promise.all([move(first, 45), move(second, -1)])
    const lost = service.sql.updateTable('deliveries').set({ state: 'given_up' })
    await lost.where('event_id', 'in', [first, second]).execute()
    const count = async (options: Partial<ReplayOptions>) =>
      (await run({ dryRun: true, ...options })).json.webhooks
    expect(await count({})).toBe(3)
    expect(await count({ until: daysFromNow(1) })).toBe(2)
    expect(await count({ state: 'given_up', since: daysFromNow(-0.5) })).toBe(1)
    expect((await reviewEndpoint(service.sql, partner.id)).resends).toBe(0)
  })

  it('waits while the endpoint is paused, is found by the comparison after that, and can be stopped', async () => {
    await fillDeliveries(service.sql, partner.id, 3, 'delivered')
    await putEndpoints(service.sql, 'paused', { partnerId: partner.id })
    await run()
    await endpointOf(service, partner).workflow.result()
    const isAtWork = async () => (await endpointsAtWork(service.sql)).includes(partner.id)
    expect([partner.endpoint.arrivals, await isAtWork()]).toEqual([[], false])
    await putEndpoints(service.sql, 'active', { partnerId: partner.id })
    expect(await isAtWork()).toBe(true)
    expect((await stop(context, { partner: partner.id })).json.webhooks).toBe(3)
    expect(await isAtWork()).toBe(false)
    const audit = (await auditOf(context)).filter(({ partner_id: of }) => of === partner.id)
    expect(audit.at(-1)).toMatchObject({ action: 'delivery.stop', detail: { webhooks: 3 } })
  })
})
