import { beforeAll, describe, expect, it } from '@jest/globals'
import { reconcile } from '../../src/core/leads/workflows/reconcile.ts'
import { createReferrals } from '../../src/core/leads/workflows/referrals.ts'
import { milestoneUpdate, type ReferralView } from '../../workflows/messages.ts'
import { leadsOf } from '../support/leads.ts'
import type { ServiceProcess } from '../support/processes.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

const CHAT = 'client_engaged_in_chat'

describe('a workflow that is terminated before it has recorded what it received', () => {
  let service: Service
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>
  let worker: ServiceProcess

  beforeAll(async () => {
    service = await prepareService()
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    worker = await service.startWorker()
  })

  const handleOf = (leadId: number) => service.client.workflow.getHandle(`lead-${leadId}`)
  const send = (leadId: number, name: string, argument?: unknown) =>
    service.referrals.signal(leadId, name, argument)
  /** A lead with one chat, whose workflow no worker runs any more. */
  async function unattended(): Promise<number> {
    const leadId = await leads.start()
    await send(leadId, CHAT)
    await leads.recorded(leadId, CHAT)
    await partner.endpoint.until(() => leads.arrivals(leadId).length === 1)
    await worker.stop()
    return leadId
  }
  /** Terminated as in the Web UI, and found by a worker. */
  async function terminate(leadId: number): Promise<void> {
    await handleOf(leadId).terminate('stuck')
    worker = await service.startWorker()
    await until(async () => (await handleOf(leadId).describe()).status.name !== 'TERMINATED')
  }
  const counts = async (leadId: number) => {
    const names = await leads.names(leadId)
    return Object.fromEntries(names.map((name) => [name, names.filter((other) => other === name).length]))
  }

  it('loses nothing: each is recorded once, and operators are told', async () => {
    const leadId = await unattended()
    await send(leadId, 'contract_signed')
    for (const argument of [undefined, undefined, { id: 'a' }, { id: 'a' }, 'not understood'])
      await send(leadId, CHAT, argument)
    await send(leadId, 'score_update')
    await send(leadId, 'play', { key: 'scenario', events: [{ name: CHAT }] })
    await send(leadId, 'play', { key: 'scenario', events: [null] })
    await terminate(leadId)
    await leads.recorded(leadId, 'score_update')
    await leads.recorded(leadId, CHAT, 6)
    await send(leadId, 'escrow_funded')
    await leads.recorded(leadId, 'escrow_funded')
    expect(await counts(leadId)).toEqual({
      lead_received: 1,
      [CHAT]: 6,
      contract_signed: 1,
      score_update: 1,
      escrow_funded: 1,
    })
    const { notes } = await handleOf(leadId).query<ReferralView>('state')
    expect(notes.map(({ what, why }) => `${what} ${why}`)).toEqual([
      'workflow was ended from outside before it had recorded 7 of its milestones: they are recorded now',
    ])
    expect(worker.output()).toContain(`"lead_id":${leadId}`)
    await partner.endpoint.until(() => leads.arrivals(leadId).length === 4)
    expect(leads.arrivals(leadId).map(({ event }) => event.data.sequence)).toEqual([1, 2, 3, 4])
  }, 60_000)

  it('still closes a lead that was to be closed, after what came before', async () => {
    const leadId = await unattended()
    await send(leadId, 'contract_signed')
    await handleOf(leadId).cancel()
    await terminate(leadId)
    await until(async () => (await handleOf(leadId).describe()).status.name === 'COMPLETED')
    expect(await counts(leadId)).toEqual({ lead_received: 1, [CHAT]: 1, contract_signed: 1 })
    const row = service.sql.selectFrom('leads').select(['close_reason']).where('id', '=', leadId)
    expect(await row.executeTakeFirst()).toEqual({ close_reason: 'canceled' })
  }, 60_000)

  it('loses nothing either when a sender starts it again before a worker looks', async () => {
    const leadId = await unattended()
    await send(leadId, 'contract_signed')
    await handleOf(leadId).terminate('stuck')
    await send(leadId, 'escrow_funded')
    worker = await service.startWorker()
    await leads.recorded(leadId, 'escrow_funded')
    await leads.recorded(leadId, 'contract_signed')
    await reconcile(service)
    expect(await counts(leadId)).toEqual({
      lead_received: 1,
      [CHAT]: 1,
      contract_signed: 1,
      escrow_funded: 1,
    })
  }, 60_000)

  it('keeps what it was handed by the run before it, and what was accepted by update', async () => {
    const leadId = await unattended()
    await handleOf(leadId).terminate('first')
    // begins with what the first one left, and is terminated before any worker sees it
    await send(leadId, 'contract_signed')
    await handleOf(leadId).terminate('second')
    const cutOffs: Record<string, unknown>[] = []
    const referrals = createReferrals({ ...service, onCutOff: (facts) => cutOffs.push(facts) })
    await referrals.startFromRecord(leadId)
    await handleOf(leadId).terminate('third')
    await referrals.startFromRecord(leadId)
    expect(cutOffs.map(({ recorded_now: names }) => names)).toEqual([
      ['contract_signed'],
      ['contract_signed'],
    ])
    worker = await service.startWorker()
    await leads.recorded(leadId, 'contract_signed')
    const answer = await handleOf(leadId).executeUpdate(milestoneUpdate, {
      args: [{ name: 'escrow_funded' }],
    })
    expect(answer.outcome).toBe('recorded')
    await handleOf(leadId).terminate('fourth')
    await referrals.startFromRecord(leadId)
    expect(cutOffs.at(-1)).toMatchObject({ recorded_now: [], closing: false })
  }, 60_000)
})
