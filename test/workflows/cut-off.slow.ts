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
  /** The lead of each test: all of them are without a worker at the same time. */
  const of = { losing: 0, closing: 0, startedAgain: 0, handedOn: 0 }
  const names = Object.keys(of) as (keyof typeof of)[]
  const cutOffs: Record<string, unknown>[] = []
  let referrals: ReturnType<typeof createReferrals>

  beforeAll(async () => {
    service = await prepareService()
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    referrals = createReferrals({ ...service, onCutOff: (facts) => cutOffs.push(facts) })
    worker = await service.startWorker()
    await Promise.all(names.map(async (name) => (of[name] = await attended())))
    await worker.stop()
    await Promise.all([lose(), close(), startAgain(), handOn()])
    worker = await service.startWorker()
  }, 60_000)

  const handleOf = (leadId: number) => service.client.workflow.getHandle(`lead-${leadId}`)
  const send = (leadId: number, name: string, argument?: unknown) =>
    service.referrals.signal(leadId, name, argument)
  /** A lead with one chat. */
  async function attended(): Promise<number> {
    const leadId = await leads.start()
    await send(leadId, CHAT)
    await leads.recorded(leadId, CHAT)
    await partner.endpoint.until(() => leads.arrivals(leadId).length === 1)
    return leadId
  }
  /** It was terminated as in the Web UI, and a worker finds it. */
  const found = (leadId: number) =>
    until(async () => (await handleOf(leadId).describe()).status.name !== 'TERMINATED')
  const counts = async (leadId: number) => {
    const recorded = await leads.names(leadId)
    return Object.fromEntries(
      recorded.map((name) => [name, recorded.filter((other) => other === name).length]),
    )
  }

  async function lose(): Promise<void> {
    const { losing: leadId } = of
    await send(leadId, 'contract_signed')
    for (const argument of [undefined, undefined, { id: 'a' }, { id: 'a' }, 'not understood'])
      await send(leadId, CHAT, argument)
    await send(leadId, 'score_update')
    await send(leadId, 'play', { key: 'scenario', events: [{ name: CHAT }] })
    await send(leadId, 'play', { key: 'scenario', events: [null] })
    await handleOf(leadId).terminate('stuck')
  }

  it('loses nothing: each is recorded once, and operators are told', async () => {
    const { losing: leadId } = of
    await found(leadId)
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
    await until(async () => worker.output().includes(`"lead_id":${leadId}`))
    await partner.endpoint.until(() => leads.arrivals(leadId).length === 4)
    expect(leads.arrivals(leadId).map(({ event }) => event.data.sequence)).toEqual([1, 2, 3, 4])
  }, 60_000)

  async function close(): Promise<void> {
    await send(of.closing, 'contract_signed')
    await handleOf(of.closing).cancel()
    await handleOf(of.closing).terminate('stuck')
  }

  it('still closes a lead that was to be closed, after what came before', async () => {
    const { closing: leadId } = of
    await found(leadId)
    await until(async () => (await handleOf(leadId).describe()).status.name === 'COMPLETED')
    expect(await counts(leadId)).toEqual({ lead_received: 1, [CHAT]: 1, contract_signed: 1 })
    const row = service.sql.selectFrom('leads').select(['close_reason']).where('id', '=', leadId)
    expect(await row.executeTakeFirst()).toEqual({ close_reason: 'canceled' })
  }, 60_000)

  async function startAgain(): Promise<void> {
    await send(of.startedAgain, 'contract_signed')
    await handleOf(of.startedAgain).terminate('stuck')
    await send(of.startedAgain, 'escrow_funded')
  }

  it('loses nothing either when a sender starts it again before a worker looks', async () => {
    const { startedAgain: leadId } = of
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

  async function handOn(): Promise<void> {
    const { handedOn: leadId } = of
    await handleOf(leadId).terminate('first')
    // begins with what the first one left, and is terminated before any worker sees it
    await send(leadId, 'contract_signed')
    await handleOf(leadId).terminate('second')
    await referrals.startFromRecord(leadId)
    await handleOf(leadId).terminate('third')
    await referrals.startFromRecord(leadId)
  }

  it('keeps what it was handed by the run before it, and what was accepted by update', async () => {
    const { handedOn: leadId } = of
    expect(cutOffs.map(({ recorded_now: recorded }) => recorded)).toEqual([
      ['contract_signed'],
      ['contract_signed'],
    ])
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
