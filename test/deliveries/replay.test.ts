import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Progress } from '../../workflows/resend.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { listAsked } from '../../src/deliveries/resends.ts'
import { replay, type ReplayOptions } from '../../src/deliveries/staff.ts'
import { contextOf } from '../staff/context.ts'
import { fillDeliveries } from '../support/deliveries.ts'
import { leadsOf } from '../support/leads.ts'
import type { TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'

describe('sending webhooks once more', () => {
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
  const handle = () => service.client.workflow.getHandle(`replay-${partner.id}`)
  const run = async (options: Partial<ReplayOptions> = {}) =>
    replay(context, { partner: partner.id, state: 'all', ...options })
  const replayed = (leadId: number) => leads.arrivals(leadId).filter((arrival) => arrival.replay === 'true')

  it('replays leads whose workflows have ended, each in order, with the same ids and bytes', async () => {
    const [first, second] = await Promise.all([endedLead(), endedLead()])
    await run()
    expect(await handle().result()).toEqual({ delivered: 6, failed: 0, waiting: 0 })
    for (const leadId of [first, second]) {
      const originals = leads.arrivals(leadId).filter((arrival) => arrival.replay === undefined)
      expect(replayed(leadId).map(({ id, body }) => ({ id, body }))).toEqual(
        originals.map(({ id, body }) => ({ id, body })),
      )
      expect(replayed(leadId).every(({ verified }) => verified)).toBe(true)
    }
  })

  it('takes what is in a state and of a time, also of a lead whose clock is ahead; with --dry-run it only counts', async () => {
    const [first = '', second = ''] = await fillDeliveries(service.sql, partner.id, 3, 'delivered')
    const rows = service.sql.updateTable('lead_events')
    const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000)
    await rows
      .set({ created_at: daysFromNow(45) })
      .where('id', '=', first)
      .execute()
    await rows
      .set({ created_at: daysFromNow(-1) })
      .where('id', '=', second)
      .execute()
    const lost = service.sql.updateTable('deliveries').set({ state: 'given_up' })
    await lost.where('event_id', 'in', [first, second]).execute()
    const count = async (options: Partial<ReplayOptions>) =>
      (await run({ dryRun: true, ...options })).json.webhooks
    expect(await count({})).toBe(3)
    expect(await count({ until: daysFromNow(1) })).toBe(2)
    expect(await count({ state: 'given_up', since: daysFromNow(-0.5) })).toBe(1)
    await expect(handle().describe()).rejects.toThrow(/not found/i)
  })

  it('says how far it is, and stops when it is canceled', async () => {
    await endedLead()
    const held = Promise.withResolvers<void>()
    partner.endpoint.answer = (arrival, response) =>
      void (arrival.event.data.sequence === 2 ? held.promise : Promise.resolve()).then(() =>
        response.writeHead(200).end(),
      )
    const before = partner.endpoint.arrivals.length
    await run()
    await partner.endpoint.until((arrivals) => arrivals.length === before + 2)
    expect(await handle().query<Progress>('progress')).toEqual({ delivered: 1, failed: 0, waiting: 2 })
    await handle().cancel()
    await expect(handle().result()).rejects.toThrow(/cancel/i)
    held.resolve()
    expect(partner.endpoint.arrivals).toHaveLength(before + 2)
    expect(await listAsked(service.sql, partner.id, 'replay')).toEqual([])
  })
})
