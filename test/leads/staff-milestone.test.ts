import { beforeAll, describe, expect, it } from '@jest/globals'
import { resend } from '../../src/deliveries/staff.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import * as lead from '../../src/leads/staff.ts'
import { showLead } from '../../src/privacy/staff.ts'
import { milestone } from '../../src/leads/staff.ts'
import { GAINS, leadsOf } from '../support/leads.ts'
import type { Service, TestPartner } from '../support/service.ts'
import { sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { auditOf, contextOf, staff, withoutTemporal } from '../staff/context.ts'

interface View {
  events: object[]
  deliveries: { event_id: string; state: string; attempts: { status: number }[] }[]
}

describe('staff, with a lead', () => {
  let service: Service
  let partner: TestPartner
  let context: StaffContext
  let leads: ReturnType<typeof leadsOf>

  beforeAll(async () => {
    service = await sharedService()
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    context = await contextOf({ ...service.environment, TEMPORAL_UI_URL: 'http://127.0.0.1:8233/' })
  })

  const view = async (id: number) => (await showLead(context, id)).json as unknown as View
  const arrived = (id: number, count: number) =>
    partner.endpoint.until(() => leads.arrivals(id).length >= count)
  it('record a milestone, once', async () => {
    const id = await leads.commit()
    const first = await staff(service.environment, [
      'milestone',
      `lead-${id}`,
      'contract_signed',
      '--json',
      '--as',
      'Kim',
    ])
    const { event_id: event, ...recorded } = JSON.parse(first.stdout)
    expect(recorded).toEqual({ lead_id: id, event_name: 'contract_signed', outcome: 'recorded' })
    expect((await milestone(context, id, 'contract_signed')).json).toMatchObject({
      event_id: event,
      outcome: 'repeated',
    })
    await expect(leads.names(id)).resolves.toEqual(['lead_received', 'contract_signed'])
    expect((await auditOf(context)).filter((line) => line.lead_id === id).slice(0, 2)).toMatchObject([
      {
        actor: 'Kim',
        action: 'milestone',
        outcome: 'begun',
        partner_id: partner.id,
        detail: { name: 'contract_signed' },
      },
      { actor: 'Kim', outcome: 'done', began: 'begun', detail: { outcome: 'recorded', event_id: event } },
    ])
  })

  it('record one that repeats each time, and the same id once', async () => {
    const id = await leads.commit()
    const outcomes = []
    for (const options of [{}, {}, { id: 'chat-1' }, { id: 'chat-1' }]) {
      outcomes.push((await milestone(context, id, 'client_engaged_in_chat', options)).json.outcome)
    }
    expect(outcomes).toEqual(['recorded', 'recorded', 'recorded', 'repeated'])
  })

  it('record score updates with their gains, or with the provider’s', async () => {
    const id = await leads.commit()
    await milestone(context, id, 'score_update', { payload: GAINS })
    await milestone(context, id, 'score_update')
    const { events } = await view(id)
    expect(events.slice(1)).toMatchObject([{ event_payload: GAINS }, { event_payload: expect.any(Object) }])
  })

  it.each([
    12,
    { experian_gain: 12 },
    { ...GAINS, transunion_gain: 551 },
    { ...GAINS, estimated_time_remaining: '60-30 days' },
    { ...GAINS, ssn: '078-05-1120' },
  ])('are refused the payload %j', async (payload) => {
    const recording = milestone(context, await leads.commit(), 'score_update', { payload })
    await expect(recording).rejects.toThrow('--payload must have the four fields of gains only')
  })

  it('learn in one line that Temporal is away, and the audit has an unknown outcome', async () => {
    const id = await leads.commit()
    const away = withoutTemporal(service.environment.DATABASE_URL)
    expect(await staff(away, ['milestone', String(id), 'mortgage_ready'])).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^Temporal does not answer at 127.0.0.1:1: [^\n]*\n$/),
    })
    expect((await auditOf(context)).filter(({ lead_id }) => lead_id === id)).toMatchObject([
      { outcome: 'begun' },
      { outcome: 'unknown' },
    ])
  })

  it('see its fields, history, webhooks, attempts and workflow', async () => {
    const id = await leads.commit()
    await milestone(context, id, 'contract_signed')
    await milestone(context, id, 'contract_signed')
    await arrived(id, 2)
    expect(await view(id)).toMatchObject({
      lead: { lead_id: id, first_name: 'Ada', status: 'contract_signed' },
      events: [{ event_name: 'lead_received' }, { event_name: 'contract_signed' }],
      deliveries: [{ sequence: 1, attempts: [{ number: 1 }] }, { sequence: 2 }],
      url: `http://127.0.0.1:8233/namespaces/${service.namespace}/workflows/lead-${id}`,
    })
    expect((await showLead(context, id)).text).toMatch(/^first_name +Ada$/m)
  })

  it('close it, and nothing is recorded any more', async () => {
    const id = await leads.commit()
    const first = await lead.close(context, id, { reason: 'withdrew' })
    expect(first.json).toMatchObject({ closed_at: expect.any(Date), close_reason: 'withdrew' })
    expect((await lead.close(context, id, { reason: 'duplicate' })).json).toEqual(first.json)
    const late = milestone(context, id, 'contract_signed')
    await expect(late).rejects.toThrow(`Lead ${id} takes no more milestones (closed)`)
  })

  it('have an open webhook tried now, and a settled one sent again', async () => {
    // so that no retry comes before the resend
    partner.endpoint.answer = (_, response) => response.writeHead(500, { 'retry-after': '600' }).end()
    const id = await leads.start()
    await until(async () => (await view(id)).deliveries[0]?.attempts[0]?.status === 500)
    // no attempts but the resends
    const next_attempt_at = new Date(Date.now() + 86_400_000)
    await service.sql.updateTable('deliveries').set({ next_attempt_at }).where('lead_id', '=', id).execute()
    await milestone(context, id, 'contract_signed')
    const [first, second] = (await view(id)).deliveries
    partner.endpoint.answer = (_, response) => response.writeHead(200).end()
    expect((await resend(context, second!.event_id)).json).toMatchObject({
      state_before: 'pending',
      waits_for: { event_id: first!.event_id, sequence: 1 },
    })
    await resend(context, first!.event_id)
    await arrived(id, 3)
    await until(async () => (await view(id)).deliveries[1]?.state === 'delivered')
    expect((await resend(context, first!.event_id)).json).toMatchObject({ state_before: 'delivered' })
    await arrived(id, 4)
    expect(leads.arrivals(id).map(({ event }) => event.data.sequence)).toEqual([1, 1, 2, 1])
    await service.sql.updateTable('deliveries').set({ state: 'canceled' }).where('lead_id', '=', id).execute()
    await expect(resend(context, second!.event_id)).rejects.toThrow('that can be sent')
    await expect(resend(context, 'evt_none')).rejects.toThrow('There is no delivery of evt_none')
  })
})
