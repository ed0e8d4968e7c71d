import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { readRecordSignal, type ReferralView } from '../../workflows/messages.ts'
import { compareLeads, hasUnread } from '../../src/leads/comparison.ts'
import { loadReferralState } from '../../src/leads/referrals.ts'
import { findEvents } from '../../src/leads/get-events.ts'
import type { SignalledMilestone } from '../../src/leads/milestones.ts'
import { newEventId } from '../../src/leads/new-lead.ts'
import { raiseEpoch } from '../../src/database/deployment.ts'
import { TASK_QUEUE } from '../../src/temporal/names.ts'
import { forget } from '../support/forget.ts'
import { leadsOf } from '../support/leads.ts'
import { holdRow } from '../support/row-lock.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

describe('a workflow whose record was restored', () => {
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
  const read = () => service.referrals.signal(leadId, readRecordSignal)
  /** Waits until the record and the workflow know it: an answer from before a loss would reach the workflow after it. */
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

  it('records again what the record has lost, at its date, as other events, and counts it once', async () => {
    await record('client_account_created')
    await record('client_engaged_in_chat', 'a')
    await record('escrow_funded')
    await delivered(3)
    const { signals, anchor } = await view()
    const before = await history()
    await forget(service.sql, leadId, 1)
    await service.sql.transaction().execute((trx) => raiseEpoch(trx))
    expect(await hasUnread(service.sql)).toBe(true)
    expect((await compareLeads(service)).refreshed).toContain(leadId)
    await delivered(1003)
    expect(await history()).toEqual(before)
    expect(await view()).toMatchObject({ signals, anchor })
    await until(async () => !(await hasUnread(service.sql)))
    const arrivals = leads.arrivals(leadId)
    expect(arrivals.map(({ event }) => event.data.sequence)).toEqual([1, 2, 3, 1002, 1003])
    expect(new Set(arrivals.map(({ id }) => id)).size).toBe(5)
  })

  it('reads it before it records anything, and answers whoever waits', async () => {
    await record('contract_signed')
    await delivered(2)
    const before = await history()
    await forget(service.sql, leadId, 1)
    await service.sql.transaction().execute((trx) => raiseEpoch(trx))
    expect(await record('escrow_funded')).toMatchObject({ outcome: 'accepted' })
    await leads.recorded(leadId, 'escrow_funded')
    expect((await history()).slice(0, 2)).toEqual(before)
  })

  it('keeps what arrived and is not recorded, and what arrives while it reads', async () => {
    const held = await holdRow(service.sql, 'leads', `id = ${leadId}`)
    await service.referrals.signal(leadId, 'client_account_created')
    await held.reached()
    for (const name of ['contract_signed', 'client_engaged_in_chat'])
      await service.referrals.signal(leadId, name)
    await read()
    const readable = Promise.withResolvers<void>()
    const locking = service.sql.transaction().execute(async (trx) => {
      await raw`lock table leads in access exclusive mode`.execute(trx)
      await readable.promise
    })
    await held.release()
    await isPending('readRecord')
    await service.referrals.signal(leadId, 'escrow_funded')
    readable.resolve()
    await locking
    await leads.recorded(leadId, 'escrow_funded')
    expect(await leads.names(leadId)).toEqual([
      'lead_received',
      'client_account_created',
      'contract_signed',
      'client_engaged_in_chat',
      'escrow_funded',
    ])
  })
  const isPending = (activity: string) =>
    until(async () => {
      const { raw: described } = await handle().describe()
      return described.pendingActivities?.some(({ activityType }) => activityType?.name === activity)
    })

  it('stays closed if somebody closed it', async () => {
    partner.endpoint.answer = (_, response) => void response.writeHead(500, { 'retry-after': '600' }).end()
    await record('contract_signed')
    await service.referrals.close(leadId, 'withdrew')
    const closing = () => service.sql.selectFrom('leads').select('close_reason').where('id', '=', leadId)
    await until(async () => (await closing().executeTakeFirst())?.close_reason === 'withdrew')
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await forget(service.sql, leadId, 1)
    await read()
    expect(await handle().result()).toBe('withdrew')
    expect(await closing().executeTakeFirst()).toEqual({ close_reason: 'withdrew' })
    expect(await leads.names(leadId)).toContain('contract_signed')
  })

  it.each(['contract_signed', readRecordSignal.name])(
    'ends when it hears %s if another lead has its id, of which nothing is changed',
    async (name) => {
      leadId = await leads.commit()
      const state = await loadReferralState(service.sql, leadId)
      await service.client.workflow.start('referral', {
        workflowId: `lead-${leadId}`,
        taskQueue: TASK_QUEUE,
        args: [{ ...state, firstEventId: newEventId(), next: 2 }, { mailed: true }],
      })
      // it counts as started: no sweep starts it before the comparison does
      const started = { workflow_started_at: new Date() }
      await service.sql.updateTable('leads').set(started).where('id', '=', leadId).execute()
      await service.referrals.signal(leadId, name)
      expect(await handle().result()).toBe('not in the record')
      expect(await leads.names(leadId)).toEqual(['lead_received'])
      const ended = `WorkflowId = 'lead-${leadId}' AND ExecutionStatus = 'Completed'`
      await until(async () => (await service.client.workflow.count(ended)).count === 1)
      expect((await compareLeads(service, { endedSince: Date.now() - 60_000 })).started).toContain(leadId)
      await delivered(1)
      await record('contract_signed')
      expect(await leads.names(leadId)).toEqual(['lead_received', 'contract_signed'])
    },
  )
})
