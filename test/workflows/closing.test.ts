import { beforeAll, describe, expect, it } from '@jest/globals'
import { runScenarioUpdate } from '../../workflows/messages.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { auditOf, contextOf } from '../staff/context.ts'
import { putClockAhead } from '../support/clock.ts'
import { leadsOf } from '../support/leads.ts'
import { type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'

const DAY_S = 24 * 60 * 60

describe('the closing of a lead', () => {
  let service: SharedService
  let context: StaffContext
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>

  beforeAll(async () => {
    service = await sharedService()
    context = await contextOf(service.environment)
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
  })

  const handleOf = (leadId: number) => service.client.workflow.getHandle(`lead-${leadId}`)
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
    const leadId = await leads.start()
    await handleOf(leadId).cancel()
    await handleOf(leadId).result()
    expect(await audited(leadId)).toEqual([elsewhere('canceled')])
  })

  it.each([
    ['withdrew', 'withdrew'],
    ['mortgage_ready', 'other'],
  ])(
    'is audited as Temporal’s when the update comes from there, though it gives the reason %s',
    async (reason, taken) => {
      const leadId = await leads.start()
      await handleOf(leadId).executeUpdate('close', { args: [{ reason }] })
      await handleOf(leadId).result()
      expect(await audited(leadId)).toEqual([elsewhere(taken)])
    },
  )

  it('is the scenario’s in a sandbox', async () => {
    const leadId = await leads.start()
    await service.referrals.update(leadId, runScenarioUpdate, [{ scenario: 'dropped_out' }])
    await handleOf(leadId).result()
    expect(await audited(leadId)).toEqual([
      { actor: 'scenario', action: 'lead.close', outcome: 'done', detail: { reason: 'withdrew' } },
    ])
  })

  it('is no action of anybody’s once its borrower has been mortgage ready for 30 days', async () => {
    const leadId = await leads.start()
    await service.referrals.signal(leadId, 'mortgage_ready')
    await leads.recorded(leadId, 'mortgage_ready')
    await putClockAhead(service.sql, leadId, 31 * DAY_S)
    await service.referrals.signal(leadId, 'read_record')
    await handleOf(leadId).result()
    expect(await audited(leadId)).toEqual([])
  })
})
