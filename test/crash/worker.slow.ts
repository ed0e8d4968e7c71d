import { beforeAll, describe, expect, it } from '@jest/globals'
import { requestResends } from '../../src/core/deliveries/statements/resend-marks.ts'
import { createResendStarter } from '../../src/core/deliveries/workflows/resend.ts'
import { fillDeliveries } from '../support/deliveries.ts'
import { leadsOf } from '../support/leads.ts'
import { holdRow } from '../support/row-lock.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { putEndpoints } from '../support/endpoint-states.ts'
import { until } from '../support/until.ts'

/** One worker is killed once, with a lead inside each activity; the next goes on with all of them. */
describe('a worker that is killed', () => {
  let service: Service
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>
  let resent: string[]
  const inside = { recording: 0, beforeSending: 0, sending: 0, sendingForLong: 0, writingTheOutcome: 0 }
  const steps = Object.keys(inside) as (keyof typeof inside)[]

  beforeAll(async () => {
    service = await prepareService()
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    const worker = await service.startWorker()
    for (const step of steps) {
      inside[step] = await leads.start()
      await partner.endpoint.until(() => leads.arrivals(inside[step]).length === 1)
    }
    const held = await standInside()
    await worker.kill()
    await Promise.all(held.map((lock) => lock.release()))
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await service.startWorker()
    await Promise.all(Object.values(inside).map((leadId) => leads.recorded(leadId, 'contract_signed')))
    await partner.endpoint.until(() =>
      Object.values(inside).every((leadId) => leads.arrivals(leadId).length > 1),
    )
    await Promise.all(Object.values(inside).map(settled))
    await until(async () => (await resendsWaiting()).length === 0)
  }, 90_000)

  /** Brings one lead into each step and answers the locks that keep them there. */
  async function standInside() {
    const recording = await holdRow(service.sql, 'leads', `id = ${inside.recording}`)
    await service.referrals.signal(inside.recording, 'contract_signed')
    await recording.reached()

    const beforeSending = await holdDelivery(inside.beforeSending)
    await beforeSending.reached()

    partner.endpoint.answer = () => {}
    await service.referrals.signal(inside.sendingForLong, 'contract_signed')
    await partner.endpoint.until(() => leads.arrivals(inside.sendingForLong).length === 2)
    await isDelivering(inside.sendingForLong)
    await askForResends()
    await partner.endpoint.until(() => resendsOf(resent[0]) === 1)

    // the last two, because after a second their recordings have answered
    await service.referrals.signal(inside.sending, 'contract_signed')
    await partner.endpoint.until(() => leads.arrivals(inside.sending).length === 2)

    const answered = Promise.withResolvers<() => void>()
    partner.endpoint.answer = (_, response) => answered.resolve(() => void response.writeHead(200).end())
    await service.referrals.signal(inside.writingTheOutcome, 'contract_signed')
    const answer = await answered.promise
    const writing = await holdRow(
      service.sql,
      'deliveries',
      `lead_id = ${inside.writingTheOutcome} and sequence = 2`,
    )
    answer()
    await writing.reached()
    return [recording, beforeSending, writing]
  }

  /** Resolves once the recording has answered without the endpoint, and the delivery waits for the same request. */
  async function isDelivering(leadId: number): Promise<void> {
    const handle = service.client.workflow.getHandle(`lead-${leadId}`)
    await until(async () => {
      const { pendingActivities } = (await handle.describe()).raw
      return pendingActivities?.some(({ activityType }) => activityType?.name === 'deliverWebhook') ?? false
    })
  }

  async function askForResends() {
    resent = await fillDeliveries(service.sql, partner.id, 3, 'delivered')
    await requestResends(service.sql, partner.id, resent)
    await createResendStarter(service.client)(partner.id)
  }
  const resendsOf = (eventId: string | undefined) =>
    partner.endpoint.arrivals.filter(({ id, replay }) => id === eventId && replay === 'true').length
  const resendsWaiting = () =>
    service.sql
      .selectFrom('deliveries')
      .select('event_id')
      .where('resend_requested_at', 'is not', null)
      .execute()

  /** The endpoint is paused until the delivery is locked, or it would be sent before. */
  async function holdDelivery(leadId: number) {
    await putEndpoints(service.sql, 'paused')
    await service.referrals.signal(leadId, 'contract_signed')
    await leads.recorded(leadId, 'contract_signed')
    const lock = await holdRow(service.sql, 'deliveries', `lead_id = ${leadId} and sequence = 2`)
    await putEndpoints(service.sql, 'active')
    await service.referrals.signal(leadId, 'wake')
    return lock
  }

  async function settled(leadId: number) {
    const handle = service.client.workflow.getHandle(`lead-${leadId}`)
    await service.referrals.signal(leadId, 'close')
    await handle.result()
  }

  it.each(steps)('loses and doubles no event of a lead that it was %s', async (step) => {
    expect(await leads.names(inside[step])).toEqual(['lead_received', 'contract_signed'])
  })

  it.each(steps)(
    'repeats a webhook at most once, with the same id and bytes, for a lead that it was %s',
    async (step) => {
      const [, ...sent] = leads.arrivals(inside[step])
      expect(sent.length).toBeLessThanOrEqual(2)
      expect(new Set(sent.map(({ id, body }) => `${id} ${body}`)).size).toBe(1)
      expect(sent.every(({ verified }) => verified)).toBe(true)
    },
  )

  it('sends each webhook that was asked for once more, and only the one in flight twice', () => {
    expect(resent.map(resendsOf)).toEqual([2, 1, 1])
  })

  it('does not repeat what had not been sent', () => {
    expect(leads.arrivals(inside.recording)).toHaveLength(2)
    expect(leads.arrivals(inside.beforeSending)).toHaveLength(2)
  })
})
