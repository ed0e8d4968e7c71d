import { beforeAll, describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { signalledMilestones } from '../../src/leads/milestones.ts'
import { rawSignal } from '../support/raw-signal.ts'
import { holdRow } from '../support/row-lock.ts'
import { until } from '../support/until.ts'
import { sharedFixture, type Fixture } from './scenes.ts'

describe('whatever is sent to a lead', () => {
  let fixture: Fixture

  beforeAll(async () => {
    fixture = await sharedFixture()
  })

  const settled = (leadId: number, received?: number) =>
    until(async () => {
      const state = await fixture.view(leadId)
      return state.signals.received === (received ?? state.signals.received) && state.waiting === 0 && state
    })

  it('is accounted for, whatever it is named and carries, and a good signal after it is recorded', async () => {
    const name = fc.oneof(
      fc.constantFrom(...signalledMilestones, 'lead_received', 'wake', 'delivery_failed', 'read_record'),
      fc.constantFrom('__proto__', '__temporal_x', '__stack_trace', 'constructor', ''),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
    )
    const encoding = fc.constantFrom('json/plain', 'json/protobuf', 'binary/plain', 'binary/null', 'x/y')
    const data = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.jsonValue().map((value) => JSON.stringify(value)),
    )
    const argument = fc.record({ encoding, data }, { requiredKeys: ['data'] })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, argument), { maxLength: 12 }), async (sent) => {
        const leadId = await fixture.leads.start()
        // the server refuses a few names itself
        for (const [signal, payload] of sent) {
          await rawSignal(fixture.service, leadId, signal, payload).catch(() => undefined)
        }
        const { outcome } =
          (await fixture.service.referrals.record(leadId, { name: 'contract_signed' })) ?? {}
        // `accepted` if the record must be read first
        expect(outcome).toMatch(/^(recorded|repeated|accepted)$/)
        const { signals } = await settled(leadId)
        const { received, recorded, repeated, refused, notUnderstood } = signals
        expect(recorded + repeated + refused + notUnderstood).toBe(received)
        const { events } = await fixture.handleOf(leadId).fetchHistory()
        expect((events ?? []).filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([])
      }),
      { numRuns: 15 },
    )
  }, 60_000)

  it('is answered when it is sent as an update, and refused with a reason when it is wrong', async () => {
    const leadId = await fixture.leads.start()
    const update = (request: unknown, updateId?: string) =>
      fixture.handleOf(leadId).executeUpdate('milestone', { args: [request], updateId })
    const first = await update({ name: 'contract_signed' })
    expect(first).toEqual({ outcome: 'recorded', event_id: expect.stringMatching(/^evt_/) })
    expect(await update({ name: 'contract_signed' })).toEqual({ ...(first as object), outcome: 'repeated' })
    expect(await update({ name: 'score_update', id: 'a' })).toMatchObject({ outcome: 'recorded' })
    await expect(update({ name: 'paid' })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('with one of client_account_created') },
    })
    await expect(update('secret')).rejects.not.toMatchObject({
      cause: { message: expect.stringContaining('secret') },
    })
    await expect(update({ name: 'score_update', event_payload: { ssn: 1 } })).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/^score_update: its payload is not well-formed.*recorded\.$/) },
    })
    // PostgreSQL takes no such text
    const chat = { name: 'client_engaged_in_chat' }
    await expect(update(chat, 'a\u0000b')).rejects.toMatchObject({
      cause: { message: expect.stringContaining('The ID of the update is not 1 to 255 visible') },
    })
    expect(await update({ ...chat, id: 'b' }, 'a\u0000c')).toMatchObject({ outcome: 'recorded' })
    expect((await fixture.leads.names(leadId)).slice(1)).toEqual([
      'contract_signed',
      'score_update',
      chat.name,
    ])
  })

  it('is recorded and answered if a cancellation is requested meanwhile, which closes the lead', async () => {
    const leadId = await fixture.leads.start()
    const lead = await holdRow(fixture.service.sql, 'leads', `id = ${leadId}`)
    const started = (name: string, request: unknown) =>
      fixture.handleOf(leadId).startUpdate(name, { args: [request], waitForStage: 'ACCEPTED' })
    const first = await started('milestone', { name: 'contract_signed' })
    const events = [{ name: 'escrow_funded' }, { name: 'client_engaged_in_chat' }]
    const second = await started('simulate', { key: 'a', events })
    await lead.reached()
    await fixture.handleOf(leadId).cancel()
    await lead.release()
    expect(await first.result()).toMatchObject({ outcome: 'recorded' })
    expect(await second.result()).toMatchObject([{ outcome: 'recorded' }, { outcome: 'recorded' }])
    expect(await fixture.handleOf(leadId).result()).toBe('canceled')
    expect((await fixture.handleOf(leadId).describe()).status.name).toBe('COMPLETED')
  })

  it('is not doubled by a reset', async () => {
    const leadId = await fixture.leads.start()
    for (const name of ['client_engaged_in_chat', 'client_engaged_in_chat', 'escrow_funded']) {
      await fixture.send(leadId, name)
    }
    await fixture.arrived(leadId, 2)
    await settled(leadId, 3)
    const { runId } = await fixture.handleOf(leadId).describe()
    await fixture.service.client.workflowService.resetWorkflowExecution({
      namespace: fixture.service.namespace,
      workflowExecution: { workflowId: `lead-${leadId}`, runId },
      workflowTaskFinishEventId: 4 as never,
      requestId: `reset-${leadId}`,
      reason: 'test',
    })
    expect((await fixture.handleOf(leadId).describe()).runId).not.toBe(runId)
    await settled(leadId, 3)
    await fixture.send(leadId, 'mortgage_ready')
    await fixture.arrived(leadId, 3)
    expect(await fixture.leads.names(leadId)).toEqual([
      'lead_received',
      'client_engaged_in_chat',
      'client_engaged_in_chat',
      'escrow_funded',
      'mortgage_ready',
    ])
    expect(fixture.leads.arrivals(leadId).map(({ event }) => event.data.sequence)).toEqual([1, 2, 3])
  })
})
