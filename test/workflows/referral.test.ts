import { beforeAll, describe, expect, it } from '@jest/globals'
import { rawSignal } from '../support/raw-signal.ts'
import { until } from '../support/until.ts'
import { type Fixture, sharedFixture } from './scenes.ts'

describe('the referral workflow', () => {
  let fixture: Fixture

  beforeAll(async () => {
    fixture = await sharedFixture()
  })

  it.each([
    ['a choice of the Web UI', 'contract_signed', { encoding: 'json/protobuf', data: '{"a":1}' }],
    ['deep JSON', 'contract_signed', { data: '['.repeat(50_000) + ']'.repeat(50_000) }],
    ['1.9 MB of JSON', 'contract_signed', { data: JSON.stringify('x'.repeat(1_900_000)) }],
    ['content, under a reserved name', '__temporal_x', { data: '"secret content"' }],
    ['content, under a name that only create-lead uses', 'lead_received', { data: '"secret content"' }],
    ['content, under a long name', 'x'.repeat(900), { data: '"secret content"' }],
  ])('is not hurt by a signal with %s', async (_, name, payload) => {
    const leadId = await fixture.leads.start()
    await rawSignal(fixture.service, leadId, name, { encoding: 'json/plain', ...payload })
    await fixture.send(leadId, 'escrow_funded')
    await fixture.leads.recorded(leadId, 'escrow_funded')
    const known = name === 'contract_signed' ? [name] : []
    expect(await fixture.leads.names(leadId)).toEqual(['lead_received', ...known, 'escrow_funded'])
    const { events } = await fixture.handleOf(leadId).fetchHistory()
    expect((events ?? []).filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([])
    expect(JSON.stringify(await fixture.view(leadId))).not.toContain('secret')
  })

  it('sends one score update, the latest, after an outage of several periods, and stays on its dates', async () => {
    const leadId = await fixture.leads.start()
    await fixture.send(leadId, 'escrow_funded')
    await fixture.leads.recorded(leadId, 'escrow_funded')
    await fixture.advance(leadId, 100)
    await fixture.leads.recorded(leadId, 'score_update')
    await fixture.advance(leadId, 34)
    await fixture.send(leadId, 'client_engaged_in_chat')
    await fixture.leads.recorded(leadId, 'client_engaged_in_chat')
    expect((await fixture.leads.names(leadId)).filter((name) => name === 'score_update')).toHaveLength(1)
    await fixture.advance(leadId, 1)
    await fixture.leads.recorded(leadId, 'score_update', 2)
    const keys = await fixture.service.sql
      .selectFrom('lead_events')
      .select('dedupe_key')
      .where('lead_id', '=', leadId)
      .where('event_name', '=', 'score_update')
      .orderBy('position')
      .execute()
    expect(keys.map((row) => row.dedupe_key)).toEqual(['score_update#2', 'score_update#3'])
  })

  it('shows operators the latest failure of a webhook, and tries it when they ask', async () => {
    let status = 500
    const accept = fixture.partner.endpoint.answer
    // it is tried only when this test asks for it
    fixture.partner.endpoint.answer = (_, response) =>
      void response.writeHead(status, { 'retry-after': '600' }).end()
    const leadId = await fixture.leads.start()
    const shows = (text: string) => until(async () => (await fixture.details(leadId)).includes(text))
    await shows('failure 1 (the endpoint answered 500)')
    status = 503
    const deliveries = fixture.service.sql.updateTable('deliveries').where('lead_id', '=', leadId)
    await deliveries.set({ next_attempt_at: new Date() }).execute()
    await fixture.send(leadId, 'wake')
    await shows('failure 2 (the endpoint answered 503)')
    fixture.partner.endpoint.answer = accept
    await deliveries.set({ asked: 'resend' }).execute()
    await fixture.send(leadId, 'wake')
    await shows('all 1 are settled')
    const attempts = fixture.service.sql
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
  })
})
