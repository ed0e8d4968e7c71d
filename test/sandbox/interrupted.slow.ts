import { beforeAll, describe, expect, it } from '@jest/globals'
import { scenarioId, webhooksOf } from '../../src/capabilities/sandbox/decisions/scenarios.ts'
import { referralId } from '../../src/core/temporal/names.ts'
import { playSignal, type ReferralView } from '../../workflows/messages.ts'
import { leadsOf } from '../support/leads.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import { holdRow } from '../support/row-lock.ts'
import { prepareService, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type SandboxPartner, sandboxPartner } from './partner.ts'

const SCENARIO = 'mortgage_ready_in_a_year'

/** On a server that suggests it soon, scenarios and leads continue as new in between. */
describe('a scenario, in runs that continue as new', () => {
  let service: Service
  let partner: SandboxPartner

  beforeAll(async () => {
    const { address } = await ownTemporal(['limit.historyCount.suggestContinueAsNew=30'])
    service = await prepareService({ TEMPORAL_ADDRESS: address })
    const [{ port }] = await Promise.all([service.startApi(), service.startWorker()])
    partner = await sandboxPartner(service, port)
  }, 60_000)

  const history = (lead: number) => leadsOf(service, partner).names(lead)

  it('has the same milestones', async () => {
    const lead = await partner.createLead(SCENARIO)
    const handle = service.client.workflow.getHandle(scenarioId(lead))
    const first = await until(() => handle.describe().catch(() => undefined))
    expect(await handle.result()).toBe('done')
    expect((await handle.describe()).runId).not.toBe(first.runId)
    expect(await history(lead)).toEqual(webhooksOf(SCENARIO))
  }, 60_000)

  it('goes on when its lead’s workflow is terminated before it has answered', async () => {
    const lead = await partner.createLead()
    await partner.endpoint.until(() => partner.arrivals(lead).length === 1)
    const row = await holdRow(service.sql, 'leads', `id = ${lead}`)
    const running = partner.post('sandbox/run-scenario', { scenario: 'chatty_borrower', lead_id: lead })
    await row.reached()
    await service.client.workflow.getHandle(referralId(lead)).terminate()
    await row.release()
    expect((await running).status).toBe(200)
    expect(await service.client.workflow.getHandle(scenarioId(lead)).result()).toBe('done')
    const names = await history(lead)
    expect(names.filter((name) => name === 'client_engaged_in_chat')).toHaveLength(12)
    expect(names.filter((name) => name !== 'client_engaged_in_chat')).toEqual(webhooksOf('chatty_borrower'))
  }, 60_000)

  it('ends when its lead is closed meanwhile', async () => {
    const lead = await partner.createLead()
    await partner.endpoint.until(() => partner.arrivals(lead).length === 1)
    const row = await holdRow(service.sql, 'leads', `id = ${lead}`)
    const running = partner.post('sandbox/run-scenario', { scenario: SCENARIO, lead_id: lead })
    await row.reached()
    await service.referrals.signal(lead, 'close')
    await row.release()
    expect((await running).data).toMatchObject({ lead_id: lead, state: 'closed' })
    const runs = service.sql.selectFrom('sandbox_runs').select('id').where('lead_id', '=', lead)
    expect(await runs.execute()).toEqual([])
  }, 60_000)

  it('of nobody leaves a lead as it is, and so does a signal that no scenario sends', async () => {
    const lead = await partner.createLead()
    const handle = service.client.workflow.getHandle(referralId(lead))
    const events = [{ name: 'contract_signed' }]
    const sent = [{ key: 'nobody', events }, { key: 'x'.repeat(2000), events }, { events }, 'play', undefined]
    await partner.endpoint.until(() => partner.arrivals(lead).length === 1)
    for (const argument of sent) await handle.signal(playSignal, argument)
    await leadsOf(service, partner).recorded(lead, 'contract_signed')
    await service.referrals.record(lead, { name: 'escrow_funded' })
    expect(await history(lead)).toEqual(['lead_received', 'contract_signed', 'escrow_funded'])
    const { notes } = await handle.query<ReferralView>('state')
    expect(notes.filter(({ what }) => what === 'play')).toHaveLength(4)
  }, 60_000)
})
