import { beforeAll, describe, expect, it } from '@jest/globals'
import type { WorkflowHandle } from '@temporalio/client'
import { putClockAhead } from '../support/clock.ts'
import { leadsOf } from '../support/leads.ts'
import { rawSignal } from '../support/raw-signal.ts'
import { type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { putEndpoints } from '../support/endpoint-states.ts'

const DAY = 24 * 60 * 60
describe('the referral workflow', () => {
  let service: SharedService
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>

  beforeAll(async () => {
    service = await sharedService()
    const added = await service.addPartner()
    partner = added
    leads = leadsOf(service, partner)
  })

  const newLead = () => leads.start()
  const handleOf = (leadId: number): WorkflowHandle => service.client.workflow.getHandle(`lead-${leadId}`)
  const names = (leadId: number) => leads.names(leadId)
  const recorded = (leadId: number, name: string, count = 1) => leads.recorded(leadId, name, count)
  const arrivalsOf = (leadId: number) => leads.arrivals(leadId)
  const details = async (leadId: number) => {
    const metadata = await handleOf(leadId).query<{ currentDetails: string }>('__temporal_workflow_metadata')
    return metadata.currentDetails
  }
  const failedTasks = async (leadId: number) => {
    const { events } = await handleOf(leadId).fetchHistory()
    return (events ?? []).filter((event) => event.workflowTaskFailedEventAttributes).length
  }
  const advance = async (leadId: number, days: number) => {
    await putClockAhead(service.sql, leadId, days * DAY)
    await service.referrals.signal(leadId, 'read_record')
  }

  it('is started by the sweep for a lead that nobody started it for', async () => {
    const leadId = await leads.commit()
    await partner.endpoint.until(() => arrivalsOf(leadId).length === 1)
    expect(await names(leadId)).toEqual(['lead_received'])
  })

  it.each([
    ['a choice of the Web UI', { encoding: 'json/protobuf', data: '{"a":1}' }],
    ['deep JSON', { encoding: 'json/plain', data: '['.repeat(50_000) + ']'.repeat(50_000) }],
    ['1.9 MB of JSON', { encoding: 'json/plain', data: JSON.stringify('x'.repeat(1_900_000)) }],
  ])('takes a milestone whose argument is %s', async (_, payload) => {
    const leadId = await newLead()
    await rawSignal(service, leadId, 'contract_signed', payload)
    await service.referrals.signal(leadId, 'escrow_funded')
    await recorded(leadId, 'escrow_funded')
    expect(await names(leadId)).toEqual(['lead_received', 'contract_signed', 'escrow_funded'])
    expect(await failedTasks(leadId)).toBe(0)
  })

  it.each(['__temporal_x', 'lead_received', 'x'.repeat(900)])(
    'is not hurt by a signal named %s',
    async (name) => {
      const leadId = await newLead()
      await rawSignal(service, leadId, name, { encoding: 'json/plain', data: '"secret content"' })
      await service.referrals.signal(leadId, 'contract_signed')
      await recorded(leadId, 'contract_signed')
      expect(await names(leadId)).toEqual(['lead_received', 'contract_signed'])
      expect(await failedTasks(leadId)).toBe(0)
      expect(JSON.stringify(await handleOf(leadId).query('state'))).not.toContain('secret')
    },
  )

  it('sends one score update, the latest, after an outage of several periods, and stays on its dates', async () => {
    const leadId = await newLead()
    await service.referrals.signal(leadId, 'escrow_funded')
    await recorded(leadId, 'escrow_funded')
    await advance(leadId, 100)
    await recorded(leadId, 'score_update')
    await advance(leadId, 34)
    await service.referrals.signal(leadId, 'client_engaged_in_chat')
    await recorded(leadId, 'client_engaged_in_chat')
    expect((await names(leadId)).filter((name) => name === 'score_update')).toHaveLength(1)
    await advance(leadId, 1)
    await recorded(leadId, 'score_update', 2)
    const keys = await service.sql
      .selectFrom('lead_events')
      .select('dedupe_key')
      .where('lead_id', '=', leadId)
      .where('event_name', '=', 'score_update')
      .orderBy('position')
      .execute()
    expect(keys.map((row) => row.dedupe_key)).toEqual(['score_update#2', 'score_update#3'])
  })

  it('holds webhooks while the endpoint is paused and sends them in order once it is woken', async () => {
    const leadId = await newLead()
    await partner.endpoint.until(() => arrivalsOf(leadId).length === 1)
    await putEndpoints(service.sql, 'paused', { partnerId: partner.id })
    await service.referrals.signal(leadId, 'contract_signed')
    await service.referrals.signal(leadId, 'escrow_funded')
    await recorded(leadId, 'escrow_funded')
    await until(async () => (await handleOf(leadId).query<{ next: number }>('state')).next === 2)
    expect(arrivalsOf(leadId)).toHaveLength(1)
    await putEndpoints(service.sql, 'active', { partnerId: partner.id })
    await service.referrals.signal(leadId, 'wake')
    await partner.endpoint.until(() => arrivalsOf(leadId).length === 3)
    expect(arrivalsOf(leadId).map(({ event }) => event.data.sequence)).toEqual([1, 2, 3])
  })

  it('shows operators the latest failure of a webhook, and tries it when they ask', async () => {
    let status = 500
    const accept = partner.endpoint.answer
    // it is tried when this test says so, and not before
    partner.endpoint.answer = (_, response) => void response.writeHead(status, { 'retry-after': '600' }).end()
    const leadId = await newLead()
    const shows = (text: string) => until(async () => (await details(leadId)).includes(text))
    await shows('failed once (the endpoint answered 500)')
    status = 503
    const deliveries = service.sql.updateTable('deliveries').where('lead_id', '=', leadId)
    await deliveries.set({ next_attempt_at: new Date() }).execute()
    await service.referrals.signal(leadId, 'wake')
    await shows('failed 2 times in a row (the endpoint answered 503)')
    partner.endpoint.answer = accept
    await handleOf(leadId).signal('send_now')
    await shows('all 1 are settled')
    const attempts = service.sql
      .selectFrom('attempts')
      .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
    const made = await attempts
      .select(['trigger', 'status'])
      .where('lead_id', '=', leadId)
      .orderBy('number')
      .execute()
    expect(made.map((attempt) => [attempt.trigger, attempt.status])).toEqual([
      ['scheduled', 500],
      ['scheduled', 503],
      ['resend', 200],
    ])
    // nothing is open: nothing is asked for
    await handleOf(leadId).signal('send_now')
    await service.referrals.signal(leadId, 'contract_signed')
    await partner.endpoint.until(() => arrivalsOf(leadId).length === 4)
    expect(arrivalsOf(leadId).at(-1)?.event.data.sequence).toBe(2)
  })

  it('closes the lead and completes when an operator requests cancellation', async () => {
    const leadId = await newLead()
    await service.referrals.signal(leadId, 'escrow_funded')
    await handleOf(leadId).cancel()
    await expect(handleOf(leadId).result()).resolves.toBe('canceled')
    expect(await details(leadId)).toContain('**Ends**: it has ended (canceled), and nothing is left to send')
    expect(await details(leadId)).not.toContain('Send a Signal')
    const lead = await service.sql
      .selectFrom('leads')
      .selectAll()
      .where('id', '=', leadId)
      .executeTakeFirstOrThrow()
    expect(lead.closed_at).not.toBeNull()
    expect(await names(leadId)).toEqual(['lead_received', 'escrow_funded'])
    expect(arrivalsOf(leadId)).toHaveLength(2)
  })
})
