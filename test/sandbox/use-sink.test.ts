import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { leadsOf } from '../support/leads.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { endpointOf } from '../support/endpoint-states.ts'
import { until } from '../support/until.ts'
import { whileBusy } from '../support/while-busy.ts'

interface Webhook {
  webhook_id: string
  verified: boolean
  status: number
  headers: Record<string, string>
  body: string
  event: { type: string; data: { lead_id?: number; sequence?: number } } | null
}

interface View {
  url: string
  health: string
  status: number
  times: number | null
  webhooks: Webhook[]
}

describe('a sink', () => {
  let service: SharedService
  let partner: TestPartner
  let port: number | undefined
  let post: (path: string, body: object) => Promise<{ status: number; data: View }>

  beforeAll(async () => {
    service = await sharedService()
    ;({ port } = service)
  }, 60_000)

  beforeEach(async () => {
    partner = await service.addPartner()
    const calls = partnerCalls(port, partner.key)
    post = async (path, body) => {
      const answer = await calls.post(`sandbox/${path}`, body)
      return { status: answer.status, data: answer.body.data as object as View }
    }
  })

  const webhooks = async () => (await post('get-sink', {})).data.webhooks.toReversed()
  const ofLead = async (leadId: number) =>
    (await webhooks()).filter(({ event }) => event?.data.lead_id === leadId)

  it('is a partner’s endpoint after one call, and passes certification', async () => {
    const { status, data } = await post('use-sink', {})
    const own = partnerCalls(port, partner.key)
    await own.post('set-endpoint', { url: data.url })
    await whileBusy(() => own.post('certify-endpoint', {}))
    await until(async () => {
      const read = (await own.post('get-endpoint', {})).body.data as object as {
        certification: { state: string }
      }
      return read.certification.state === 'passed'
    })
    expect([status, data.health]).toEqual([200, 'active'])
    const read = await post('get-sink', {})
    expect(read.data.url).toBe(data.url)
    expect((await webhooks()).map((webhook) => [webhook.verified, webhook.status])).toEqual([
      [true, 200],
      [true, 200],
      [true, 200],
      [false, 400],
      [false, 400],
      [false, 400],
    ])
  })

  it('changes nothing when it is used again, and answers 200 again', async () => {
    await post('use-sink', {})
    await post('set-sink', { status: 500 })
    const { revision } = await endpointOf(service, partner).row()
    await until(async () => (await endpointOf(service, partner).row()).state === 'active')
    await post('use-sink', {})
    expect(await endpointOf(service, partner).row()).toMatchObject({ revision })
    expect((await post('get-sink', {})).data.status).toBe(200)
  })

  it('fails as often as it was told and then works, so that retries can be watched', async () => {
    await post('use-sink', {})
    await post('set-sink', { status: 503, times: 2 })
    const leadId = await leadsOf(service, partner).start()
    await until(async () => {
      await endpointOf(service, partner).makeDue()
      await service.referrals.signal(leadId, 'wake')
      return (await ofLead(leadId)).length === 3
    })
    const arrived = await ofLead(leadId)
    expect(arrived.map(({ status }) => status)).toEqual([503, 503, 200])
    for (const { verified, headers, webhook_id: id, body, event } of arrived) {
      expect([verified, headers['webhook-id']]).toEqual([true, id])
      expect(JSON.parse(body)).toEqual(event)
    }
    expect(new Set(arrived.map(({ webhook_id: id, body }) => id + body)).size).toBe(1)
    expect((await post('get-sink', {})).data).toMatchObject({ status: 200, times: null })
  })

  it('answers late as it was told, and says in its answer that it refused', async () => {
    await post('use-sink', {})
    await post('set-sink', { status: 503, times: 2, delay_ms: 300 })
    const leadId = await leadsOf(service, partner).start()
    const attempt = await until(() =>
      service.sql
        .selectFrom('attempts')
        .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
        .select(['duration_ms', 'attempts.event_id'])
        .where('deliveries.lead_id', '=', leadId)
        .where('finished_at', 'is not', null)
        .executeTakeFirst(),
    )
    expect(attempt.duration_ms).toBeGreaterThanOrEqual(300)
    // who reads the attempt is not told that it was received
    const { body } = await partnerCalls(port, partner.key).post('get-deliveries', {
      event_id: attempt.event_id,
    })
    const [delivery] = body.data as object as { attempts: { response_body: string }[] }[]
    expect(JSON.parse(delivery?.attempts[0]?.response_body ?? '')).toEqual({
      success: false,
      verified: true,
      answer: 'Refused with 503, as set-sink told this sink.',
    })
  })
})
