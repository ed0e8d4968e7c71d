import { beforeAll, describe, expect, it } from '@jest/globals'
import { GAINS, leadsOf } from '../support/leads.ts'
import { prepareService } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { type SandboxPartner, sandboxPartner } from './partner.ts'

// begun with the file: it takes ten seconds to be refused
let withoutWorker: ReturnType<typeof askWithoutWorker>
beforeAll(() => {
  withoutWorker = askWithoutWorker()
  // of which its test tells
  withoutWorker.catch(() => undefined)
})

describe('simulate-event', () => {
  let service: SharedService
  let partner: SandboxPartner

  beforeAll(async () => {
    service = await sharedService()
    partner = await sandboxPartner(service, service.port)
  }, 60_000)

  const positions = (lead: number) =>
    service.sql
      .selectFrom('lead_events')
      .select(['position', 'event_name'])
      .where('lead_id', '=', lead)
      .orderBy('position')
      .execute()

  it('records no more than a thousand events of a lead, and says so', async () => {
    const lead = await partner.createLead()
    await service.sql.updateTable('leads').set({ next_position: 1000 }).where('id', '=', lead).execute()
    const chats = {
      events: [{ event_name: 'client_engaged_in_chat' }, { event_name: 'client_engaged_in_chat' }],
    }
    const [one, other] = await Promise.all([partner.simulate(lead, chats), partner.simulate(lead, chats)])
    for (const { status, error } of [one, other]) {
      expect([status, error]).toEqual([
        409,
        {
          code: 'LEAD_FULL',
          lead_id: lead,
          message: expect.stringContaining('limit of 1,000 events'),
        },
      ])
    }
    expect((await positions(lead)).map(({ position }) => position)).toEqual([1, 1000])
  })

  it('records in the very second of create-lead, sends the webhook, and answers a repeat with that event', async () => {
    const lead = await partner.createLead()
    const { status, data } = await partner.simulate(lead, { event_name: 'escrow_funded' })
    const event = {
      recorded: true,
      event_id: expect.stringMatching(/^evt_/),
      event_name: 'escrow_funded',
      event_payload: null,
      created_at: expect.stringMatching(/^\d{4}-/),
      sequence: 2,
    }
    expect([status, data]).toEqual([
      200,
      {
        lead_id: lead,
        status: 'escrow_funded',
        now: expect.any(String),
        events: [event],
        next: { what: 'score_update', at: expect.any(String) },
      },
    ])
    await partner.endpoint.until(() => partner.arrivals(lead).length === 2)
    expect(partner.arrivals(lead)[1]?.data.event_id).toBe(data.events[0]?.event_id)
    const again = await partner.simulate(lead, { event_name: 'escrow_funded' })
    expect(again.data.events).toEqual([{ ...data.events[0], recorded: false }])
  })

  it('records fifty in their order', async () => {
    const lead = await partner.createLead()
    const events = Array.from({ length: 50 }, (_, index) => ({
      event_name: ['client_engaged_in_chat', 'score_update'][index % 2],
    }))
    const { data } = await partner.simulate(lead, { events })
    expect(data.events.map(({ event_name }) => ({ event_name }))).toEqual(events)
    const rows = await positions(lead)
    expect(rows.map(({ position }) => position)).toEqual(Array.from({ length: 51 }, (_, index) => index + 1))
    expect(rows.slice(1).map(({ event_name }) => ({ event_name }))).toEqual(events)
    expect(data.events.filter(({ sequence }) => sequence === null)).toHaveLength(25)
  })

  it('records a request with the same Idempotency-Key once, however often it comes', async () => {
    const lead = await partner.createLead()
    const sent = {
      events: [
        { event_name: 'score_update' },
        { event_name: 'score_update' },
        { event_name: 'mortgage_ready' },
      ],
    }
    const repeated = await Promise.all(
      Array.from({ length: 5 }, () => partner.simulate(lead, sent, 'the-same')),
    )
    const ids = repeated.map(({ data }) => data.events.map((event) => event.event_id))
    expect(new Set(ids.map(String)).size).toBe(1)
    expect(await positions(lead)).toHaveLength(4)
    await partner.simulate(lead, sent, 'another')
    expect(await positions(lead)).toHaveLength(6)
  })

  it('counts other milestones under the same Idempotency-Key as another request', async () => {
    const lead = await partner.createLead()
    const update = async (equifax_gain: number) => {
      const event_payload = { ...GAINS, equifax_gain }
      const sent = { event_name: 'score_update', event_payload }
      const { data } = await partner.simulate(lead, sent, 'reused')
      return data.events[0]
    }
    const first = await update(1)
    expect(await update(2)).toMatchObject({ recorded: true, event_payload: { equifax_gain: 2 } })
    expect(await update(1)).toEqual(first)
  })

  it('refuses a closed lead', async () => {
    const lead = await partner.createLead()
    await service.referrals.close(lead, 'other')
    const { status, error } = await partner.simulate(lead, { event_name: 'contract_signed' })
    expect([status, error?.code]).toEqual([409, 'LEAD_CLOSED'])
    expect(await leadsOf(service, partner).names(lead)).not.toContain('contract_signed')
  })
})

describe('simulate-event and advance-clock without a worker', () => {
  it('answer 503 after ten seconds, and a repeat with the same key records once', async () => {
    const { service, partner, lead, simulate, answered } = await withoutWorker
    const { answers, tookMs } = await answered
    for (const { status, error } of answers)
      expect([status, error?.code]).toEqual([503, 'SERVICE_UNAVAILABLE'])
    expect(tookMs).toBeLessThan(15_000)
    await service.startWorker()
    expect((await simulate()).status).toBe(200)
    expect(await leadsOf(service, partner).names(lead)).toEqual(['lead_received', 'score_update'])
  }, 60_000)
})

/** Asks for both where there is no worker; `answered` resolves when they are refused. */
async function askWithoutWorker() {
  const service = await prepareService()
  const { port } = await service.startApi()
  const partner = await sandboxPartner(service, port)
  const lead = await partner.createLead()
  const sent = { event_name: 'score_update' }
  const began = performance.now()
  const asked = Promise.all([
    partner.simulateOnce(lead, sent, 'the-same'),
    partner.advanceOnce(lead, { days: 1 }),
  ])
  const answered = asked.then((answers) => ({ answers, tookMs: performance.now() - began }))
  return { service, partner, lead, simulate: () => partner.simulate(lead, sent, 'the-same'), answered }
}
