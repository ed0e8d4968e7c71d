import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import type { ReferralView } from '../../workflows/messages.ts'
import { lossesOf } from '../../src/capabilities/restore/statements/restores.ts'
import { findEvents } from '../../src/core/leads/statements/partner-reads.ts'
import type { SignalledMilestone } from '../../src/core/leads/decisions/milestones.ts'
import { SCORE_PERIOD_MS } from '../../src/core/leads/decisions/score-dates.ts'
import { raiseGeneration } from '../../src/core/record/statements/generation.ts'
import { forget } from '../support/forget.ts'
import { leadsOf } from '../support/leads.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { startScoreServer } from '../support/score-server.ts'
import { until } from '../support/until.ts'

describe('a workflow whose record went back', () => {
  let service: Service
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>
  let leadId: number

  beforeAll(async () => {
    service = await prepareService()
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    await service.startWorker()
  })

  beforeEach(async () => {
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    leadId = await leads.start()
    await delivered(1)
  })

  const handle = () => service.client.workflow.getHandle(`lead-${leadId}`)
  const view = () => handle().query<ReferralView>('state')
  const record = (name: SignalledMilestone, id?: string) =>
    service.referrals.record(leadId, { name, ...(id !== undefined && { id }) })
  /** In the record, and known to the workflow: an answer of before a loss would tell it of that. */
  const delivered = (sequence: number) =>
    until(async () => {
      const rows = service.sql.selectFrom('deliveries').select('state').where('lead_id', '=', leadId)
      const [row] = await rows.where('sequence', '=', sequence).execute()
      return row?.state === 'delivered' && (await view()).next > sequence
    })
  const history = async () =>
    ((await findEvents(service.sql, partner.id, leadId)) ?? []).map(
      ({ event_name: name, created_at: at }) => [name, at.getTime()],
    )
  const takeOver = () => service.referrals.takeOver(leadId)

  it('is not taken for one when an older answer comes after a newer one', async () => {
    await record('escrow_funded')
    await delivered(2)
    const answering = Promise.withResolvers<void>()
    partner.endpoint.answer = (_, response) =>
      void answering.promise.then(() => response.writeHead(200).end())
    // its recording waits a second for the webhook; that of the milestone after it does not
    await service.referrals.signal(leadId, 'score_update')
    await partner.endpoint.until(() => leads.arrivals(leadId).length === 3)
    await record('contract_signed')
    answering.resolve()
    await delivered(4)
    const { notes, anchor } = await view()
    expect(notes).toEqual([])
    expect(anchor).not.toBeNull()
    expect((await history()).map(([name]) => name)).toEqual([
      'lead_received',
      'escrow_funded',
      'score_update',
      'contract_signed',
    ])
  })

  it('has what it recorded again, at its date, and counts it once', async () => {
    await record('client_account_created')
    await record('client_engaged_in_chat', 'a')
    await record('escrow_funded')
    await delivered(3)
    const before = {
      history: await history(),
      signals: (await view()).signals,
      anchor: (await view()).anchor,
    }
    await forget(service.sql, leadId, 1)
    await takeOver()
    await delivered(3)
    const { signals, anchor } = await view()
    expect({ history: await history(), signals, anchor }).toEqual(before)
  })

  it('asks for gains again that it never had', async () => {
    await record('escrow_funded')
    await record('score_update', 'a')
    await delivered(3)
    await forget(service.sql, leadId, 2)
    await takeOver()
    await delivered(1003)
    const updates = leads.arrivals(leadId).filter(({ event }) => event.type === 'score_update')
    expect(new Set(updates.map(({ id }) => id)).size).toBe(2)
    expect(updates.map(({ event }) => event.data.sequence)).toEqual([3, 1003])
  })

  it('ends when it would have ended', async () => {
    await record('mortgage_ready')
    await delivered(2)
    const { endsAt } = await view()
    await forget(service.sql, leadId, 1)
    await takeOver()
    await delivered(2)
    expect((await view()).endsAt).toBe(endsAt)
  })

  it('leaves a webhook alone that waits for its next attempt and is not there any more', async () => {
    // which it does not get before the record is another one
    partner.endpoint.answer = (_, response) => void response.writeHead(500, { 'retry-after': '600' }).end()
    await record('contract_signed')
    await until(async () => ((await view()).failure?.failures ?? 0) > 0)
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await forget(service.sql, leadId, 1)
    await takeOver()
    await delivered(2)
    await record('escrow_funded')
    await delivered(1003)
    const taken = leads.arrivals(leadId).map(({ event }) => event.data.sequence)
    expect(taken).toEqual([1, 2, 2, 1003])
  })

  it('reads the histories of earlier workflows of the lead, too', async () => {
    await record('contract_signed')
    await delivered(2)
    await handle().terminate()
    await service.referrals.startFromRecord(leadId)
    await record('escrow_funded')
    await delivered(3)
    const before = await history()
    await forget(service.sql, leadId, 1)
    await takeOver()
    await delivered(3)
    expect(await history()).toEqual(before)
  })

  it('takes nothing from a lost lead that had the same id', async () => {
    await record('contract_signed')
    await delivered(2)
    await forget(service.sql, leadId, 1)
    const later = new Date(Date.now() + 120_000)
    await service.sql.updateTable('leads').set({ created_at: later }).where('id', '=', leadId).execute()
    await raw`update deliveries set state = 'pending', settled_at = null where lead_id = ${leadId}`.execute(
      service.sql,
    )
    await takeOver()
    await delivered(1)
    expect(await leads.names(leadId)).toEqual(['lead_received'])
  })

  it('answers whoever waits once it has taken over, and lists what was lost', async () => {
    await record('contract_signed')
    await delivered(2)
    const { event_id: lost } = (await record('contract_signed')) ?? {}
    await forget(service.sql, leadId, 1)
    const answers = await Promise.all([record('contract_signed'), record('escrow_funded')])
    expect(answers).toEqual([
      { outcome: 'repeated', event_id: lost },
      { outcome: 'recorded', event_id: expect.any(String) },
    ])
    const { generation } = await view()
    const losses = await lossesOf(service.sql, [generation], partner.id)
    expect(losses.filter((loss) => loss.lead_id === leadId)).toEqual([
      expect.objectContaining({ event_name: 'contract_signed', is_recorded_again: true }),
    ])
  })
})

describe('a workflow that takes over its record while the provider is asked for scores', () => {
  let service: Service
  let provider: Awaited<ReturnType<typeof startScoreServer>>
  let leads: ReturnType<typeof leadsOf>

  beforeAll(async () => {
    ;[service, provider] = await Promise.all([prepareService(), startScoreServer()])
    leads = leadsOf(service, await service.addPartner())
    await service.startWorker({ SCORE_PROVIDER_URL: provider.url })
  }, 60_000)

  const isSignalled = async () => {
    const leadId = await leads.start()
    await service.referrals.signal(leadId, 'score_update')
    return leadId
  }
  const isDue = async () => {
    const leadId = await leads.commit()
    const anchor = new Date(Date.now() - SCORE_PERIOD_MS)
    await service.sql.updateTable('leads').set({ anchor_at: anchor }).where('id', '=', leadId).execute()
    await service.referrals.startFromRecord(leadId)
    return leadId
  }

  it.each([
    ['was signalled', isSignalled],
    ['is due', isDue],
  ])('records a score update that %s', async (_, begin) => {
    const answering = Promise.withResolvers<void>()
    provider.answering = answering.promise
    const leadId = await begin()
    await until(async () => provider.asked.some(({ lead_id: asked }) => asked === leadId))
    await service.sql.transaction().execute((trx) => raiseGeneration(trx, 'staff'))
    await service.referrals.takeOver(leadId)
    answering.resolve()
    await leads.recorded(leadId, 'score_update')
    expect((await leads.names(leadId)).filter((name) => name === 'score_update')).toHaveLength(1)
  })
})
