import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import type { ReferralView } from '../../workflows/messages.ts'
import { compareLeads } from '../../src/leads/comparison.ts'
import { putEndpoints } from '../support/endpoint-states.ts'
import { GAINS, leadsOf, record } from '../support/leads.ts'
import { published } from '../support/published.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'
import { hasCompared } from '../support/compared.ts'

describe('the record, against the workflows that run', () => {
  let service: Service
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>

  beforeAll(async () => {
    service = await prepareService()
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    await service.startWorker()
    await hasCompared(service)
  })

  const handleOf = (leadId: number) => service.client.workflow.getHandle(`lead-${leadId}`)
  const arrived = (leadId: number, count: number) =>
    partner.endpoint.until(() => leads.arrivals(leadId).length >= count)
  const started = async (ago = '2 minutes') => {
    const leadId = await leads.start()
    await arrived(leadId, 1)
    const workflow_started_at = raw<Date>`now() - ${ago}::interval`
    await service.sql.updateTable('leads').set({ workflow_started_at }).where('id', '=', leadId).execute()
    return leadId
  }
  /** Records a score update without its workflow, whose status and webhooks still match the record. */
  async function recordUnknown(leadId: number): Promise<void> {
    const name = 'score_update'
    await service.referrals.record(leadId, { name, id: 'known', event_payload: GAINS })
    await listed(`WorkflowId = 'lead-${leadId}' AND LeadStatus = '${name}' AND DeliveryState = 'ok'`, 1)
    await until(async () => (await handleOf(leadId).query<{ next: number }>('state')).next === 3)
    await record(service.sql, leadId, name)
  }
  const listed = (query: string, count: number) =>
    until(async () => (await service.client.workflow.count(query)).count === count)

  it('starts a terminated lead again, with its date and what is to be sent, and repeats no webhook', async () => {
    const leadId = await started()
    await service.referrals.signal(leadId, 'escrow_funded')
    await arrived(leadId, 2)
    const planned = async () => {
      const { anchor, period, next, last } = await handleOf(leadId).query<Record<string, number>>('state')
      return { anchor, period, next, last }
    }
    await until(async () => (await planned()).next === 3)
    const before = await planned()
    const since = Date.now() - 60_000
    await handleOf(leadId).terminate()
    await listed(`WorkflowId = 'lead-${leadId}' AND ExecutionStatus = 'Terminated'`, 1)
    expect((await compareLeads(service, { endedSince: since })).started).toEqual([leadId])
    expect(await planned()).toEqual(before)
    await service.referrals.signal(leadId, 'contract_signed')
    await arrived(leadId, 3)
    expect(leads.arrivals(leadId).map(({ event }) => event.data.sequence)).toEqual([1, 2, 3])
  })

  it('finds a lead that is started again as failing when its webhook fails', async () => {
    partner.endpoint.answer = (_, response) => void response.writeHead(503).end()
    const leadId = await leads.start()
    const failure = { sequence: 1, failures: 1, reason: 'the endpoint answered 503' }
    const shown = async () => (await handleOf(leadId).query<{ failure: unknown }>('state')).failure
    await until(async () => (await shown()) !== null)
    await handleOf(leadId).terminate()
    await service.referrals.startFromRecord(leadId)
    expect(await shown()).toEqual(failure)
    expect(await published(handleOf(leadId))).toMatchObject({ DeliveryState: 'failing' })
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await service.referrals.close(leadId, 'other')
  })

  it('leaves a closed lead alone', async () => {
    const leadId = await started()
    await handleOf(leadId).cancel()
    await handleOf(leadId).result()
    await listed(`WorkflowId = 'lead-${leadId}' AND ExecutionStatus = 'Completed'`, 1)
    const before = await handleOf(leadId).describe()
    await compareLeads(service, { endedSince: Date.now() - 60_000 })
    expect((await compareLeads(service)).started).not.toContain(leadId)
    expect((await handleOf(leadId).describe()).runId).toBe(before.runId)
  })

  it('finds every lead without a workflow', async () => {
    const lost = await started()
    await handleOf(lost).terminate()
    await listed(`WorkflowId = 'lead-${lost}' AND ExecutionStatus = 'Running'`, 0)
    expect((await compareLeads(service)).started).toEqual([lost])
    await listed(`WorkflowId = 'lead-${lost}' AND ExecutionStatus = 'Running'`, 1)
    expect((await compareLeads(service)).started).toEqual([])
  })

  it('tells a workflow that lags behind the record to read it again', async () => {
    const leadId = await started()
    await listed(`WorkflowId = 'lead-${leadId}' AND LeadStatus = 'lead_received'`, 1)
    await record(service.sql, leadId, 'contract_signed')
    expect((await compareLeads(service)).refreshed).toContain(leadId)
    await listed(`WorkflowId = 'lead-${leadId}' AND LeadStatus = 'contract_signed'`, 1)
  })

  it('wakes a workflow whose webhook is overdue', async () => {
    const leadId = await started()
    await recordUnknown(leadId)
    const overdue = { next_attempt_at: raw<Date>`now() - interval '3 minutes'` }
    const pending = service.sql.updateTable('deliveries').where('lead_id', '=', leadId)
    await pending.set(overdue).where('state', '=', 'pending').execute()
    expect((await compareLeads(service, { endedSince: Date.now() })).refreshed).toEqual([leadId])
    await arrived(leadId, 3)
  })

  it('sends an overdue webhook though its workflow has lost the resume', async () => {
    const { sql } = service
    const leadId = await started()
    await putEndpoints(sql, 'paused')
    await service.referrals.signal(leadId, 'contract_signed')
    await until(async () => (await handleOf(leadId).query<ReferralView>('state')).held)
    await putEndpoints(sql, 'active')
    const overdue = { next_attempt_at: raw<Date>`now() - interval '3 minutes'` }
    await sql.updateTable('deliveries').set(overdue).where('lead_id', '=', leadId).execute()
    expect((await compareLeads(service, { endedSince: Date.now() })).refreshed).toEqual([leadId])
    await arrived(leadId, 2)
  })
})
