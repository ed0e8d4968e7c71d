import { beforeAll, expect, it } from '@jest/globals'
import { WorkflowNotFoundError } from '@temporalio/client'
import { runScenarioUpdate } from '../../workflows/messages.ts'
import { auditOf, contextOf } from '../staff/context.ts'
import { until } from '../support/until.ts'
import { type Fixture, sharedFixture } from './scenes.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await sharedFixture()
})

it.each<[string, (leadId: number) => Promise<unknown>, [actor: string, reason: string] | null]>([
  [
    'Temporal’s if its cancellation is requested there',
    (leadId) => fixture.handleOf(leadId).cancel(),
    ['temporal', 'canceled'],
  ],
  [
    'Temporal’s if the update comes from there',
    (leadId) => fixture.handleOf(leadId).executeUpdate('close', { args: [{ reason: 'withdrew' }] }),
    ['temporal', 'withdrew'],
  ],
  [
    'the scenario’s in a sandbox',
    (leadId) => fixture.service.referrals.update(leadId, runScenarioUpdate, [{ scenario: 'dropped_out' }]),
    ['scenario', 'withdrew'],
  ],
  [
    'nobody’s once its borrower has been mortgage ready for 30 days',
    async (leadId) => {
      await fixture.send(leadId, 'mortgage_ready')
      await fixture.leads.recorded(leadId, 'mortgage_ready')
      await fixture.advance(leadId, 31)
    },
    null,
  ],
])('the closing of a lead is %s', async (_, close, by) => {
  const leadId = await fixture.leads.start()
  await fixture.send(leadId, 'escrow_funded')
  await close(leadId)
  await fixture.handleOf(leadId).result()
  const audited = (await auditOf(await contextOf(fixture.service.environment)))
    .filter(({ lead_id: id }) => id === leadId)
    .map(({ actor, action, outcome, detail }) => ({ actor, action, outcome, detail }))
  const row = by && { actor: by[0], action: 'lead.close', outcome: 'done', detail: { reason: by[1] } }
  expect(audited).toEqual(row === null ? [] : [row])
  // what has arrived is recorded and sent
  expect(await fixture.leads.names(leadId)).toContain('escrow_funded')
  const sequences = fixture.leads.arrivals(leadId).map(({ event }) => event.data.sequence)
  expect(sequences.slice(0, 2)).toEqual([1, 2])
  const details = await fixture.details(leadId)
  expect(details).toContain('**Ends**: it has ended (')
  expect(details).not.toContain('Send a Signal')
})

/** A lead that has come to the end of its journey. */
const ready = async () => {
  const leadId = await fixture.leads.start()
  await fixture.send(leadId, 'mortgage_ready')
  await fixture.arrived(leadId, 2)
  await until(async () => (await fixture.view(leadId)).next === 3)
  return leadId
}

it('after mortgage_ready, a fact is recorded for 30 days, though an earlier life of the workflow recorded the journey', async () => {
  const leadId = await ready()
  const { endsAt } = await fixture.view(leadId)
  await fixture.handleOf(leadId).terminate()
  await fixture.send(leadId, 'contract_signed')
  await fixture.advance(leadId, 29)
  await fixture.send(leadId, 'client_engaged_in_chat')
  await fixture.leads.recorded(leadId, 'client_engaged_in_chat')
  expect(await fixture.view(leadId)).toMatchObject({ endsAt, closing: false })
  await fixture.arrived(leadId, 3)
  expect(await fixture.leads.names(leadId)).toEqual([
    'lead_received',
    'mortgage_ready',
    'contract_signed',
    'client_engaged_in_chat',
  ])
  expect(fixture.leads.arrivals(leadId).map(({ event }) => event.data.sequence)).toEqual([1, 2, 3])
  await fixture.advance(leadId, 1)
  await expect(fixture.handleOf(leadId).result()).resolves.toBe('mortgage_ready')
})

it('beyond 30 days after mortgage_ready, Temporal rejects a signal, and one of our own senders is noted as refused', async () => {
  const leadId = await ready()
  await fixture.advance(leadId, 30)
  await expect(fixture.handleOf(leadId).result()).resolves.toBe('mortgage_ready')
  const late = () => fixture.handleOf(leadId).signal('client_engaged_in_chat')
  await expect(late()).rejects.toThrow(WorkflowNotFoundError)
  expect(await fixture.send(leadId, 'client_engaged_in_chat')).toBe(true)
  await fixture.handleOf(leadId).result()
  const { signals, notes } = await fixture.view(leadId)
  expect(signals).toMatchObject({ received: 1, recorded: 0, refused: 1 })
  expect(notes.map(({ what, why }) => `${what}: ${why}`)).toEqual([
    'client_engaged_in_chat: not recorded: the lead is closed',
  ])
  expect(await fixture.leads.names(leadId)).toEqual(['lead_received', 'mortgage_ready'])
  expect(fixture.leads.arrivals(leadId)).toHaveLength(2)
})
