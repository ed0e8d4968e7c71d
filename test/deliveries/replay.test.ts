import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { Resends } from '../../workflows/resend.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { replay, type ReplayOptions, resend } from '../../src/deliveries/staff.ts'
import { contextOf } from '../staff/context.ts'
import { endpointOf, putEndpoints } from '../support/endpoint-states.ts'
import { leadsOf } from '../support/leads.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
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

  it('takes all events without --until, those of a lead whose clock is ahead, too', async () => {
    const leadId = await endedLead()
    await service.sql
      .updateTable('lead_events')
      .set({ created_at: new Date(Date.now() + 45 * 86_400_000) })
      .where('lead_id', '=', leadId)
      .execute()
    expect((await run({ dryRun: true })).json).toMatchObject({ webhooks: 3, until: null })
    expect((await run({ dryRun: true, until: new Date() })).json).toMatchObject({ webhooks: 0 })
    await run()
    expect(await handle().result()).toMatchObject({ replay: { total: 3 }, delivered: 3 })
  })

  it('only counts with --dry-run', async () => {
    const leadId = await endedLead()
    const { json } = await run({ dryRun: true })
    expect(json).toMatchObject({ webhooks: 3, leads: 1, delivered: 3, given_up: 0, workflow_id: null })
    await expect(handle().describe()).rejects.toThrow(/not found/i)
    expect(replayed(leadId)).toEqual([])
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
    expect(await handle().result()).toMatchObject({ replay: { total: 1 }, delivered: 1 })
    expect(replayed(leadId).map(({ id }) => id)).toEqual([two!.event_id])
    expect((await deliveriesOf(leadId)).map(({ state }) => state)).toEqual([
      'given_up',
      'delivered',
      'delivered',
    ])
  })

  it('goes on after a refusal, and changes nothing by it', async () => {
    const leadId = await endedLead()
    partner.endpoint.answer = ({ event }, response) =>
      void response.writeHead(event.data.sequence === 2 ? 500 : 200).end()
    await run()
    expect(await handle().result()).toMatchObject({ delivered: 2, failed: 1 })
    expect((await deliveriesOf(leadId)).map(({ state }) => state)).toEqual([
      'delivered',
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

  it('does not send twice at once what is resent while its retry is pending', async () => {
    let inFlight = 0
    let most = 0
    let answer = 500
    const release = Promise.withResolvers<void>()
    partner.endpoint.answer = (_, response) => {
      inFlight += 1
      most = Math.max(most, inFlight)
      void (answer === 500 ? Promise.resolve() : release.promise).then(() => {
        inFlight -= 1
        // so that the retry stays pending
        response.writeHead(answer, { 'retry-after': '600' }).end()
      })
    }
    const leadId = await leads.start()
    await partner.endpoint.until(() => leads.arrivals(leadId).length === 1)
    const eventId = leads.arrivals(leadId)[0]!.id
    await until(async () => (await deliveriesOf(leadId))[0]?.failures === 1)
    answer = 200
    const answers = await Promise.all([
      resend(context, eventId),
      resend(context, eventId),
      resend(context, eventId),
    ])
    expect(answers.map(({ json }) => json.outcome)).toEqual(['due', 'due', 'due'])
    await partner.endpoint.until(() => leads.arrivals(leadId).length === 2)
    await resend(context, eventId)
    release.resolve()
    await until(async () => (await deliveriesOf(leadId))[0]?.state === 'delivered')
    expect(most).toBe(1)
    expect(leads.arrivals(leadId)).toHaveLength(2)
    expect(await endpointOf(service, partner).open()).toBe(0)
  })

  describe('that a partner asks for over the API', () => {
    const ask = async (eventId: string) => {
      const { status, body } = await partnerCalls(service.port, partner.key).post('resend-webhook', {
        event_id: eventId,
      })
      expect({ status, success: body.success }).toEqual({ status: 200, success: true })
    }

    it('sends a delivered one again, with the same id and bytes', async () => {
      const leadId = await endedLead()
      const [, original] = leads.arrivals(leadId)
      await ask(original?.id ?? '')
      await partner.endpoint.until(() => replayed(leadId).length === 1)
      expect(replayed(leadId)[0]).toMatchObject({ id: original?.id, body: original?.body, verified: true })
    })

    it('tries an open one now, in its place', async () => {
      partner.endpoint.answer = (_, response) => void response.writeHead(500).end()
      const leadId = await leads.start()
      await until(async () => (await deliveriesOf(leadId))[0]?.failures === 1)
      await service.sql
        .updateTable('deliveries')
        .set({ next_attempt_at: new Date(Date.now() + 86_400_000) })
        .where('lead_id', '=', leadId)
        .execute()
      partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
      await ask(leads.arrivals(leadId)[0]?.id ?? '')
      await until(async () => (await deliveriesOf(leadId))[0]?.state === 'delivered')
      expect(leads.arrivals(leadId)).toHaveLength(2)
      expect(replayed(leadId)).toEqual([])
    })
  })
})
