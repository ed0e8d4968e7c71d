import { beforeAll, expect, it } from '@jest/globals'
import { runScenarioUpdate } from '../../workflows/messages.ts'
import { auditOf, contextOf } from '../staff/context.ts'
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
