import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { leadsOf } from '../support/leads.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { endpointOf } from '../support/endpoint-states.ts'
import { until } from '../support/until.ts'
import { whileBusy } from '../support/while-busy.ts'

interface Webhook {
  webhook_id: string
  attempt: number
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

  it('keeps a lead’s webhooks with their headers and bytes', async () => {
    await post('use-sink', {})
    const leadId = await leadsOf(service, partner).start()
    const [webhook] = await until(async () => {
      const arrived = await ofLead(leadId)
      return arrived.length === 1 && arrived
    })
    expect(webhook).toMatchObject({ verified: true, status: 200, attempt: 1 })
    expect(JSON.parse(webhook?.body ?? '')).toEqual(webhook?.event)
    expect(webhook?.headers).toMatchObject({ 'webhook-id': webhook?.webhook_id })
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
    expect(arrived.map(({ status, attempt }) => [status, attempt])).toEqual([
      [503, 1],
      [503, 2],
      [200, 3],
    ])
    expect(new Set(arrived.map(({ webhook_id: id, body }) => id + body)).size).toBe(1)
    expect((await post('get-sink', {})).data).toMatchObject({ status: 200, times: null })
  })

  it('says in its answer that it refused the webhook', async () => {
    await post('use-sink', {})
    // its retry does not use up what is read first
    await post('set-sink', { status: 503, times: 2, retry_after: 600 })
    const leadId = await leadsOf(service, partner).start()
    await until(async () => (await ofLead(leadId)).length === 1)
    expect((await post('get-sink', {})).data).toMatchObject({ status: 503, times: 1 })
    const [{ webhook_id: id } = { webhook_id: '' }] = await ofLead(leadId)
    // who reads the attempt is not told that it was received
    const read = async () => {
      const { body } = await partnerCalls(port, partner.key).post('get-deliveries', { event_id: id })
      return (body.data as object as { attempts: { response_body: string | null }[] }[])[0]?.attempts[0]
    }
    const answer = await until(async () => {
      const made = await read()
      return made?.response_body ?? undefined
    })
    expect(JSON.parse(answer)).toEqual({
      success: false,
      verified: true,
      answer: 'Refused with 503, as set-sink told this sink.',
    })
  })

  it('answers late as it was told', async () => {
    await post('use-sink', {})
    await post('set-sink', { delay_ms: 300 })
    const leadId = await leadsOf(service, partner).start()
    const attempt = await until(() =>
      service.sql
        .selectFrom('attempts')
        .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
        .select('duration_ms')
        .where('deliveries.lead_id', '=', leadId)
        .where('finished_at', 'is not', null)
        .executeTakeFirst(),
    )
    expect(attempt.duration_ms).toBeGreaterThanOrEqual(300)
  })

  it.each([
    ['resets', 'connection_reset'],
    ['answers_half', 'connection_reset'],
    ['answers_slowly', 'timeout'],
  ])('can be told that it %s, which is a failed attempt', async (fault, code) => {
    await post('use-sink', {})
    const { status } = await post('set-sink', { fault, times: 1 })
    expect(status).toBe(200)
    const leadId = await leadsOf(service, partner).start()
    const failed = await until(() => failedAttempt(leadId))
    expect(failed.error_code).toBe(code)
    const [webhook] = await ofLead(leadId)
    expect(webhook).toMatchObject({ verified: true, fault })
    await endpointOf(service, partner).makeDue()
    await service.referrals.signal(leadId, 'wake')
    await until(async () => (await ofLead(leadId)).length === 2)
    expect((await ofLead(leadId))[1]).toMatchObject({ status: 200, fault: null })
  })

  it('asks to wait, which a retry does', async () => {
    await post('use-sink', {})
    await post('set-sink', { status: 429, retry_after: 7200 })
    const leadId = await leadsOf(service, partner).start()
    const failed = await until(() => failedAttempt(leadId))
    const waits = Number(failed.next_attempt_at) - Number(failed.finished_at)
    expect(waits / 1000).toBeGreaterThan(7199)
    expect(waits / 1000).toBeLessThan(7200 * 1.2)
    // an hour later
    await service.sql
      .updateTable('sinks')
      .set({ ends_at: new Date() })
      .where('partner_id', '=', partner.id)
      .execute()
    expect((await post('get-sink', {})).data).toMatchObject({ status: 200, retry_after: null, ends_at: null })
    await endpointOf(service, partner).makeDue()
    await service.referrals.signal(leadId, 'wake')
    await until(async () => (await ofLead(leadId)).length === 2)
    expect((await ofLead(leadId))[1]).toMatchObject({ status: 200 })
  })

  const failedAttempt = (leadId: number) =>
    service.sql
      .selectFrom('attempts')
      .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
      .select(['attempts.error_code', 'attempts.next_attempt_at', 'attempts.finished_at'])
      .where('deliveries.lead_id', '=', leadId)
      .where('attempts.finished_at', 'is not', null)
      .orderBy('attempts.number')
      .executeTakeFirst()

  it('is nobody else’s, and none before it was made', async () => {
    expect((await post('get-sink', {})).status).toBe(409)
    expect((await post('set-sink', { status: 500 })).status).toBe(409)
    for (const token of ['none', '0'.repeat(32), '%00', 'x'.repeat(101), 'x'.repeat(10_000)]) {
      const url = `http://127.0.0.1:${port}/v1/sandbox/sinks/${token}`
      const unknown = await fetch(url, { method: 'POST', body: '{}' })
      expect(unknown.status).toBe(404)
      expect(await unknown.json()).toMatchObject({ success: false, error: { code: 'NOT_FOUND' } })
      expect(unknown.headers.get('x-request-id')).toEqual(expect.any(String))
    }
  })

  it.each([
    { fault: 'explodes' },
    { fault: 'resets', retry_after: 1 },
    { status: 199 },
    { status: 600 },
    { delay_ms: 20_001 },
    { times: 0 },
    { delay_ms: -1 },
  ])('refuses %j', async (body) => {
    await post('use-sink', {})
    expect((await post('set-sink', body)).status).toBe(400)
  })
})
