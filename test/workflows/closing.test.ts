import { beforeAll, describe, expect, it } from '@jest/globals'
import { runScenarioUpdate } from '../../workflows/messages.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { auditOf, contextOf } from '../staff/context.ts'
import { type Fixture, sharedFixture } from './scenes.ts'

describe('the closing of a lead', () => {
  let fixture: Fixture
  let context: StaffContext

  beforeAll(async () => {
    fixture = await sharedFixture()
    context = await contextOf(fixture.service.environment)
  })

  const audited = async (leadId: number) =>
    (await auditOf(context))
      .filter(({ lead_id: id }) => id === leadId)
      .map(({ actor, action, outcome, detail }) => ({ actor, action, outcome, detail }))
  const elsewhere = (reason: string) => ({
    actor: 'temporal',
    action: 'lead.close',
    outcome: 'done',
    detail: { reason },
  })

  it('is audited as Temporal’s when somebody requests the cancellation there', async () => {
    const leadId = await fixture.leads.start()
    await fixture.handleOf(leadId).cancel()
    await fixture.handleOf(leadId).result()
    expect(await audited(leadId)).toEqual([elsewhere('canceled')])
  })

  it.each([
    ['withdrew', 'withdrew'],
    ['mortgage_ready', 'other'],
  ])(
    'is audited as Temporal’s when the update comes from there, though it gives the reason %s',
    async (reason, taken) => {
      const leadId = await fixture.leads.start()
      await fixture.handleOf(leadId).executeUpdate('close', { args: [{ reason }] })
      await fixture.handleOf(leadId).result()
      expect(await audited(leadId)).toEqual([elsewhere(taken)])
    },
  )

  it('is the scenario’s in a sandbox', async () => {
    const leadId = await fixture.leads.start()
    await fixture.service.referrals.update(leadId, runScenarioUpdate, [{ scenario: 'dropped_out' }])
    await fixture.handleOf(leadId).result()
    expect(await audited(leadId)).toEqual([
      { actor: 'scenario', action: 'lead.close', outcome: 'done', detail: { reason: 'withdrew' } },
    ])
  })

  it('is no action of anybody’s once its borrower has been mortgage ready for 30 days', async () => {
    const leadId = await fixture.leads.start()
    await fixture.send(leadId, 'mortgage_ready')
    await fixture.leads.recorded(leadId, 'mortgage_ready')
    await fixture.advance(leadId, 31)
    await fixture.handleOf(leadId).result()
    expect(await audited(leadId)).toEqual([])
  })
})
