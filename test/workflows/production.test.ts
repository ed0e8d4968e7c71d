import { WorkflowUpdateFailedError } from '@temporalio/client'
import { expect, it } from '@jest/globals'
import { referralId } from '../../src/temporal/names.ts'
import { leadsOf } from '../support/leads.ts'
import { productionSettings } from '../support/production.ts'
import { prepareService } from '../support/service.ts'

it('in production, no lead’s workflow takes a sandbox’s updates', async () => {
  const service = await prepareService(productionSettings())
  const leads = leadsOf(service, await service.addPartner())
  await service.startWorker()
  const leadId = await leads.start()
  const handle = service.client.workflow.getHandle(referralId(leadId))
  for (const [name, argument] of [
    ['simulate', { key: 'a', events: [{ name: 'escrow_funded' }] }],
    ['advance_clock', { days: 1 }],
    ['run_scenario', { scenario: 'dropped_out' }],
  ] as const)
    await expect(handle.executeUpdate(name, { args: [argument] })).rejects.toThrow(WorkflowUpdateFailedError)
  await service.referrals.record(leadId, { name: 'contract_signed' })
  expect(await leads.names(leadId)).toEqual(['lead_received', 'contract_signed'])
  const lead = service.sql.selectFrom('leads').select('clock_offset').where('id', '=', leadId)
  expect(await lead.executeTakeFirst()).toEqual({ clock_offset: 0 })
}, 60_000)
