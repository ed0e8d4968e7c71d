import { WorkflowUpdateFailedError } from '@temporalio/client'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { loadReferralState } from '../../src/leads/referrals.ts'
import { referralId, TASK_QUEUE } from '../../src/temporal/names.ts'
import type { ReferralView } from '../../workflows/messages.ts'
import { leadsOf } from '../support/leads.ts'
import { productionSettings } from '../support/production.ts'
import { prepareService, type Service } from '../support/service.ts'

describe('in production, what a sandbox is for', () => {
  let service: Service
  let leads: ReturnType<typeof leadsOf>

  beforeAll(async () => {
    service = await prepareService(productionSettings())
    leads = leadsOf(service, await service.addPartner())
    await service.startWorker()
  }, 60_000)

  const handleOf = (leadId: number) => service.client.workflow.getHandle(referralId(leadId))
  const milestones = { key: 'a', events: [{ name: 'escrow_funded' }] }
  const clockOf = async (leadId: number) => {
    const lead = service.sql.selectFrom('leads').select(['clock_offset', 'last_event_at'])
    return lead.where('id', '=', leadId).executeTakeFirstOrThrow()
  }

  const advance = { days: 1 }

  it('is understood by no lead’s workflow', async () => {
    const leadId = await leads.start()
    for (const [name, argument] of [
      ['simulate', milestones] as const,
      ['advance_clock', advance] as const,
      ['run_scenario', { scenario: 'dropped_out' }] as const,
    ])
      await expect(handleOf(leadId).executeUpdate(name, { args: [argument] })).rejects.toThrow(
        WorkflowUpdateFailedError,
      )
    await service.referrals.record(leadId, { name: 'contract_signed' })
    expect(await leads.names(leadId)).toEqual(['lead_received', 'contract_signed'])
    const { clock_offset: ahead, last_event_at: last } = await clockOf(leadId)
    expect([ahead, last < new Date()]).toEqual([0, true])
    const { offset, signals } = await handleOf(leadId).query<ReferralView>('state')
    expect([offset, signals.recorded]).toEqual([0, 1])
  })

  it('is refused by the activities when somebody starts its workflow by hand', async () => {
    const leadId = await leads.commit()
    const start = (type: string, workflowId: string, args: unknown[]) =>
      service.client.workflow.start(type, { workflowId, taskQueue: TASK_QUEUE, args })
    const state = await loadReferralState(service.sql, leadId)
    await start('referral', referralId(leadId), [{ ...state, isSandbox: true }])
    const simulated = handleOf(leadId).executeUpdate('simulate', { args: [milestones] })
    await expect(simulated).resolves.toEqual([{ outcome: 'no_sandbox', event_id: null }])
    const advanced = handleOf(leadId).executeUpdate('advance_clock', { args: [advance] })
    await expect(advanced).rejects.toThrow(WorkflowUpdateFailedError)
    expect(await leads.names(leadId)).toEqual(['lead_received'])
    expect((await clockOf(leadId)).clock_offset).toBe(0)
  })
})
