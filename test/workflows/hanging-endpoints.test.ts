import type { ServerResponse } from 'node:http'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { leadsOf } from '../support/leads.ts'
import { until } from '../support/until.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'

/** The most requests that a worker has in flight for a partner. */
const PLACES = 10
/** `PENDING_ACTIVITY_STATE_STARTED` of Temporal’s API. */
const STARTED = 2

describe('endpoints that hang', () => {
  let service: Service
  let hanging: TestPartner
  let other: TestPartner

  beforeAll(async () => {
    service = await prepareService()
    ;[hanging, other] = [await service.addPartner(), await service.addPartner()]
    await service.startWorker()
  }, 60_000)

  /** Whether a worker has the activity that sends a lead's webhook. */
  const isSending = async (leadId: number) => {
    const { raw } = await service.client.workflow.getHandle(`lead-${leadId}`).describe()
    return raw.pendingActivities?.some(
      ({ activityType: type, state }) => type?.name === 'deliverWebhook' && Number(state) === STARTED,
    )
  }
  /** How many requests to a partner's endpoint have ended. */
  const endedOf = async ({ id }: TestPartner) => {
    const { count } = await service.sql
      .selectFrom('attempts')
      .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
      .select((eb) => eb.fn.count<string>('finished_at').as('count'))
      .where('deliveries.partner_id', '=', id)
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  it('take no place from recordings, however many of their webhooks wait', async () => {
    const leads = leadsOf(service, other)
    const leadId = await leads.start()
    await other.endpoint.until(({ length }) => length === 1)
    const held: ServerResponse[] = []
    hanging.endpoint.answer = (_, response) => void held.push(response)
    const others = leadsOf(service, hanging)
    const waiting = await Promise.all(Array.from({ length: PLACES + 2 }, async () => others.start()))
    await until(async () => (await Promise.all(waiting.map(isSending))).filter(Boolean).length >= PLACES)
    const ended = await endedOf(hanging)
    await service.referrals.signal(leadId, 'contract_signed')
    await leads.recorded(leadId, 'contract_signed')
    // otherwise the recording would have waited for one to end
    expect(await endedOf(hanging)).toBe(ended)
    // the worker stops only after them
    for (const response of held) response.destroy()
  })
})
