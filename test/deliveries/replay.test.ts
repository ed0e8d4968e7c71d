import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Resends } from '../../workflows/resend.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { replay, type ReplayOptions } from '../../src/deliveries/staff.ts'
import { contextOf } from '../staff/context.ts'
import { putEndpoints } from '../support/endpoint-states.ts'
import { leadsOf } from '../support/leads.ts'
import type { TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

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
  const deliveriesOf = (leadId: number) =>
    service.sql
      .selectFrom('deliveries')
      .selectAll()
      .where('lead_id', '=', leadId)
      .orderBy('sequence')
      .execute()
  const handle = () => service.client.workflow.getHandle(`replay-${partner.id}`)
  const run = async (options: Partial<ReplayOptions> = {}) =>
    replay(context, { partner: partner.id, state: 'all', ...options })
  const replayed = (leadId: number) => leads.arrivals(leadId).filter((arrival) => arrival.replay === 'true')

  it('replays leads whose workflows have ended, each in order, with the same ids and bytes', async () => {
    const [first, second] = await Promise.all([endedLead(), endedLead()])
    await run()
    expect(await handle().result()).toMatchObject({ replay: { total: 6 }, delivered: 6, failed: 0 })
    for (const leadId of [first, second]) {
      const originals = leads.arrivals(leadId).filter((arrival) => arrival.replay === undefined)
      expect(replayed(leadId).map(({ id, body }) => ({ id, body }))).toEqual(
        originals.map(({ id, body }) => ({ id, body })),
      )
      expect(replayed(leadId).every(({ verified }) => verified)).toBe(true)
    }
  })

  it('takes all events without --until, those of a lead whose clock is ahead, too; with --dry-run it only counts', async () => {
    const leadId = await endedLead()
    await service.sql
      .updateTable('lead_events')
      .set({ created_at: new Date(Date.now() + 45 * 86_400_000) })
      .where('lead_id', '=', leadId)
      .execute()
    expect((await run({ dryRun: true })).json).toMatchObject({ webhooks: 3, leads: 1, workflow_id: null })
    await expect(handle().describe()).rejects.toThrow(/not found/i)
    expect((await run({ dryRun: true, until: new Date() })).json).toMatchObject({ webhooks: 0 })
    await run()
    expect(await handle().result()).toMatchObject({ replay: { total: 3 }, delivered: 3 })
  })

  it('replays what was given up, of the time that is asked for', async () => {
    const leadId = await endedLead()
    const [one, two] = await deliveriesOf(leadId)
    await service.sql
      .updateTable('deliveries')
      .set({ state: 'given_up' })
      .where('event_id', 'in', [one!.event_id, two!.event_id])
      .execute()
    const yesterday = new Date(Date.now() - 86_400_000)
    await service.sql
      .updateTable('lead_events')
      .set({ created_at: yesterday })
      .where('id', '=', one!.event_id)
      .execute()
    await run({ state: 'given_up', since: new Date(Date.now() - 3_600_000) })
    expect(await handle().result()).toMatchObject({ replay: { total: 1 }, delivered: 1, failed: 0 })
    expect(replayed(leadId).map(({ id }) => id)).toEqual([two!.event_id])
    expect((await deliveriesOf(leadId)).map(({ state }) => state)).toEqual([
      'given_up',
      'delivered',
      'delivered',
    ])
  })

  it('says how far it is, stops when it is canceled, and is one at a time', async () => {
    await endedLead()
    const held = Promise.withResolvers<void>()
    partner.endpoint.answer = (arrival, response) =>
      void (arrival.event.data.sequence === 2 ? held.promise : Promise.resolve()).then(() =>
        response.writeHead(200).end(),
      )
    const before = partner.endpoint.arrivals.length
    await run()
    await partner.endpoint.until((arrivals) => arrivals.length === before + 2)
    await expect(run()).rejects.toThrow(/under way/)
    expect(await handle().query<Resends>('progress')).toMatchObject({ replay: { total: 3 }, delivered: 1 })
    await handle().cancel()
    await expect(handle().result()).rejects.toThrow(/cancel/i)
    held.resolve()
    expect(partner.endpoint.arrivals).toHaveLength(before + 2)
  })

  it('waits with a replay while the endpoint is paused', async () => {
    const leadId = await endedLead()
    await putEndpoints(service.sql, 'paused', { partnerId: partner.id })
    await run()
    await until(async () => {
      const { raw } = await handle().describe()
      return raw.pendingActivities?.some(({ lastFailure }) =>
        /endpoint is paused/.test(lastFailure?.message ?? ''),
      )
    })
    expect(replayed(leadId)).toEqual([])
    await handle().cancel()
  })
})
