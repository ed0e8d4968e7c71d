import { beforeAll, describe, expect, it } from '@jest/globals'
import { leadsOf } from '../support/leads.ts'
import { until } from '../support/until.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'

const PLACES = 4
/** `PENDING_ACTIVITY_STATE_STARTED` of Temporal’s API. */
const STARTED = 2

describe('endpoints that hang', () => {
  let service: Service
  let hanging: TestPartner
  let other: TestPartner

  beforeAll(async () => {
    service = await prepareService()
    ;[hanging, other] = [await service.addPartner(), await service.addPartner()]
    await service.startWorker({ WORKER_ACTIVITIES: String(PLACES) })
  }, 60_000)

  /** Whether a worker has the activity that sends a lead's webhook. */
  const isSending = async (leadId: number) => {
    const { raw } = await service.client.workflow.getHandle(`lead-${leadId}`).describe()
    return raw.pendingActivities?.some(
      ({ activityType: type, state }) => type?.name === 'deliverWebhook' && Number(state) === STARTED,
    )
  }
  /** When the first request to a partner's endpoint ended. */
  const firstEndOf = async ({ id }: TestPartner) => {
    const { at } = await service.sql
      .selectFrom('attempts')
      .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
      .select((eb) => eb.fn.min('finished_at').as('at'))
      .where('deliveries.partner_id', '=', id)
      .executeTakeFirstOrThrow()
    return at
  }
  const recordedAt = async (leadId: number) => {
    const { created_at: at } = await service.sql
      .selectFrom('lead_events')
      .select('created_at')
      .where('lead_id', '=', leadId)
      .where('event_name', '=', 'contract_signed')
      .executeTakeFirstOrThrow()
    return at
  }

  it('take no place from what is to be recorded, however many wait for them', async () => {
    const leads = leadsOf(service, other)
    const leadId = await leads.start()
    await other.endpoint.until(({ length }) => length === 1)
    hanging.endpoint.answer = () => {}
    const others = leadsOf(service, hanging)
    const waiting = await Promise.all(Array.from({ length: 2 * PLACES }, async () => others.start()))
    await until(async () => (await Promise.all(waiting.map(isSending))).filter(Boolean).length >= PLACES)
    await service.referrals.signal(leadId, 'contract_signed')
    await leads.recorded(leadId, 'contract_signed')
    const ended = await firstEndOf(hanging)
    expect((await recordedAt(leadId)).getTime()).toBeLessThan(ended?.getTime() ?? Infinity)
  })
})
