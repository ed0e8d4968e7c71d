import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { MOST_RESENDS } from '../../src/deliveries/delivery-states.ts'
import { createResender } from '../../src/deliveries/resends.ts'
import type { Resends } from '../../workflows/resend.ts'
import { prepareApi } from '../support/api.ts'
import { fillDeliveries } from '../support/deliveries.ts'
import { pauseEndpoint, resumeEndpoint } from '../support/endpoint-states.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

describe('resends that a partner asks for', () => {
  let service: SharedService
  let resender: ReturnType<typeof createResender>
  let partner: TestPartner

  beforeAll(async () => {
    service = await sharedService()
    resender = createResender(service.client, service.referrals)
  }, 60_000)

  beforeEach(async () => {
    partner = await service.addPartner()
  })

  const settled = (count: number) => fillDeliveries(service.sql, partner.id, count, 'delivered')
  const ask = async (...eventIds: string[]) => {
    const { post } = partnerCalls(service.port, partner.key)
    const answers = await Promise.all(eventIds.map((event_id) => post('resend-webhook', { event_id })))
    expect(answers.map(({ status }) => status)).toEqual(eventIds.map(() => 200))
  }
  const webhooksOf = async (partnerId: number, count: number) => {
    await fillDeliveries(service.sql, partnerId, count, 'delivered')
    const all = service.sql.selectFrom('deliveries').select(['lead_id as leadId', 'sequence'])
    return all.where('partner_id', '=', partnerId).execute()
  }
  const arrived = () => partner.endpoint.arrivals.map(({ id }) => id)
  const handle = () => service.client.workflow.getHandle(`resend-${partner.id}`)
  const waiting = async () => (await handle().query<Resends>('progress')).waiting.length

  it('wait up to 1,000, of one partner, and are one request at a time', async () => {
    const webhooks = await webhooksOf(partner.id, MOST_RESENDS + 20)
    const answered = Promise.withResolvers<void>()
    partner.endpoint.answer = (_, response) => void answered.promise.then(() => response.writeHead(200).end())
    expect(await resender.add(partner.id, webhooks)).toHaveLength(20)
    // those that wait already are not more
    expect(await resender.add(partner.id, webhooks.slice(0, 2))).toEqual([])
    expect(await waiting()).toBe(MOST_RESENDS)
    await partner.endpoint.until((arrivals) => arrivals.length === 1)
    const other = await service.addPartner()
    expect(await resender.add(other.id, await webhooksOf(other.id, 1))).toEqual([])
    expect(arrived()).toHaveLength(1)
    await handle().terminate()
    answered.resolve()
  })

  it('are one for an event, however often it is asked for, and another after that', async () => {
    const answered = Promise.withResolvers<void>()
    partner.endpoint.answer = (_, response) => void answered.promise.then(() => response.writeHead(500).end())
    const [first = '', second = ''] = await settled(2)
    await ask(first, first, first)
    await partner.endpoint.until((arrivals) => arrivals.length === 1)
    await ask(first, second)
    answered.resolve()
    await partner.endpoint.until((arrivals) => arrivals.length === 2)
    await until(async () => (await waiting()) === 0)
    await ask(first)
    await partner.endpoint.until((arrivals) => arrivals.length === 3)
    expect(arrived()).toEqual([first, second, first])
    expect(partner.endpoint.arrivals.every(({ replay, verified }) => verified && replay === 'true')).toBe(
      true,
    )
  })

  it('wait while the endpoint is paused, and go out after its resume, but for what was canceled', async () => {
    await pauseEndpoint(service.sql, partner.id)
    const [first = '', second = '', canceled = ''] = await settled(3)
    await ask(first)
    await ask(second, canceled)
    const row = service.sql.updateTable('deliveries').where('event_id', '=', canceled)
    await row.set({ state: 'canceled' }).execute()
    expect([await waiting(), arrived()]).toEqual([3, []])
    await resumeEndpoint(service.sql, partner.id)
    await until(async () => (await waiting()) === 0)
    expect(arrived()).toEqual([first, second])
  })

  it('are asked of their workflow with an argument of the service only', async () => {
    await ask(...(await settled(1)))
    for (const asked of [undefined, {}, [null], [{ leadId: 1 }], [{ leadId: '1', sequence: 1 }]])
      await expect(handle().executeUpdate('resend', { args: [asked] })).rejects.toThrow('Update failed')
  })
})

it('a resend that is too many is told when to come back', async () => {
  const api = await prepareApi({ resendWebhook: async () => 'too_many' })
  const partner = await api.addPartner()
  const [event_id] = await fillDeliveries(api.sql, partner.id, 1, 'delivered')
  const { status, headers, body } = await partner.post('resend-webhook', { event_id })
  expect([status, headers['retry-after'], body.error.code]).toEqual([429, '15', 'RATE_LIMITED'])
})
