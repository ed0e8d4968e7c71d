import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { MOST_RESENDS } from '../../src/deliveries/delivery-states.ts'
import { createResender, findWebhook, forgetAsked } from '../../src/deliveries/resends.ts'
import { reviewEndpoint } from '../../src/endpoints/endpoint-review.ts'
import { createEndpointStarter } from '../../src/endpoints/endpoint-workflows.ts'
import { prepareApi } from '../support/api.ts'
import { fillDeliveries } from '../support/deliveries.ts'
import { pauseEndpoint, resumeEndpoint } from '../support/endpoint-states.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

describe('resends that a partner asks for', () => {
  let service: SharedService
  let partner: TestPartner

  beforeAll(async () => {
    service = await sharedService()
  }, 60_000)

  beforeEach(async () => {
    partner = await service.addPartner()
  })

  const settled = (count: number, of = partner.id) => fillDeliveries(service.sql, of, count, 'delivered')
  const ask = async (...eventIds: string[]) => {
    const { post } = partnerCalls(service.port, partner.key)
    const answers = await Promise.all(eventIds.map((event_id) => post('resend-webhook', { event_id })))
    expect(answers.map(({ status }) => status)).toEqual(eventIds.map(() => 200))
  }
  const arrived = () => partner.endpoint.arrivals.map(({ id }) => id)
  const waiting = async () => (await reviewEndpoint(service.sql, partner.id)).resends
  /** Holds back the endpoint's answers until told. */
  const holdAnswers = (status: number) => {
    const answered = Promise.withResolvers<void>()
    partner.endpoint.answer = (_, response) =>
      void answered.promise.then(() => response.writeHead(status).end())
    return answered.resolve
  }

  it('wait up to 1,000, of one partner, and are one request at a time', async () => {
    const [last = '', ...others] = await settled(MOST_RESENDS)
    await service.sql
      .updateTable('deliveries')
      .set({ asked: 'resend' })
      .where('event_id', 'in', others)
      .execute()
    const answer = holdAnswers(200)
    const resender = createResender({
      sql: service.sql,
      wakeLead: service.referrals.wake,
      startEndpoint: createEndpointStarter(service.client),
    })
    const resend = async (eventId = '') => resender.resend((await findWebhook(service.sql, eventId))!)
    expect(await resend(last)).toBe('accepted')
    const other = await service.addPartner()
    const [more] = await settled(1)
    const [foreign] = await settled(1, other.id)
    // a resend that already waits does not count again
    expect(await Promise.all([more, last, foreign].map(resend))).toEqual(['too_many', 'accepted', 'accepted'])
    await other.endpoint.until((arrivals) => arrivals.length === 1)
    await partner.endpoint.until((arrivals) => arrivals.length === 1)
    expect([await waiting(), arrived()]).toEqual([MOST_RESENDS, [last]])
    expect(await forgetAsked(service.sql, partner.id)).toBe(MOST_RESENDS)
    answer()
    await service.client.workflow.getHandle(`endpoint-${partner.id}`).result()
    expect([await waiting(), arrived()]).toEqual([0, [last]])
  })

  it('count once for an event while it waits, and again after that', async () => {
    const answer = holdAnswers(500)
    const [first = '', second = ''] = await settled(2)
    await ask(first, first, first)
    await partner.endpoint.until((arrivals) => arrivals.length === 1)
    await ask(first, second)
    answer()
    await until(async () => (await waiting()) === 0)
    await ask(first)
    await partner.endpoint.until((arrivals) => arrivals.length === 3)
    expect(arrived()).toEqual([first, second, first])
    expect(partner.endpoint.arrivals.every(({ replay, verified }) => verified && replay === 'true')).toBe(
      true,
    )
  })

  it('wait while the endpoint is paused, and go out after its resume, but for those of erased leads', async () => {
    await pauseEndpoint(service.sql, partner.id)
    const [first = '', second = '', erased = ''] = await settled(3)
    await ask(first, second, erased)
    const { lead_id } = (await findWebhook(service.sql, erased))!
    const lead = service.sql.updateTable('leads').where('id', '=', lead_id)
    await lead.set({ erased_at: new Date() }).execute()
    expect([await waiting(), arrived()]).toEqual([3, []])
    await resumeEndpoint(service.sql, partner.id)
    await until(async () => (await waiting()) === 0)
    expect(arrived()).toEqual([first, second])
  })
})

it('a resend beyond the limit is told when to come back', async () => {
  const api = await prepareApi({ resendWebhook: async () => 'too_many' })
  const partner = await api.addPartner()
  const [event_id] = await fillDeliveries(api.sql, partner.id, 1, 'delivered')
  const { status, headers, body } = await partner.post('resend-webhook', { event_id })
  expect([status, headers['retry-after'], body.error.code]).toEqual([429, '15', 'RATE_LIMITED'])
})
