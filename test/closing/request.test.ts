import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import * as closings from '../../src/capabilities/closing/commands/closing.ts'
import { closingsToStart, stepClosing } from '../../src/capabilities/closing/statements/carry-out.ts'
import { createClosingStarter } from '../../src/capabilities/closing/workflows/closings.ts'
import { erase } from '../../src/capabilities/erasure/commands/lead-erasure.ts'
import { close } from '../../src/core/leads/commands/lead.ts'
import { raiseGeneration } from '../../src/core/record/statements/generation.ts'
import { auditOf } from '../staff/context.ts'
import { leadsOf } from '../support/leads.ts'
import { prepareProduction, type Production, STAFF_EMAIL } from '../support/production.ts'
import type { Service, TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

describe('a closing that is requested in production', () => {
  let production: Production
  let service: Service
  let partner: TestPartner
  let context: Production['context']
  let mails: Production['mails']
  let lead: number

  interface Answer {
    data: { lead_id: number; requested_at: string; closes_at: string | null; closed_at?: string }
    closing?: { state: string; at: string; reason: string }
    error: { code: string; message: string }
  }

  beforeAll(async () => {
    production = await prepareProduction()
    ;({ service, partner, context, mails } = production)
  }, 60_000)

  beforeEach(async () => {
    lead = await leadsOf(service, partner).start()
  })

  const post = async (path: string, body: object, as?: string) => {
    const answer = await production.post(path, body, as)
    return { ...answer, body: answer.body as Answer }
  }
  const request = async (reason = 'withdrew') =>
    (await post('close-lead', { lead_id: lead, reason })).body.data
  const cancel = (id = lead) => post('close-lead', { lead_id: id, cancel: true })
  const rows = () =>
    service.sql.selectFrom('closings').selectAll().where('lead_id', '=', lead).orderBy('id').execute()
  const isTold = async () => (await rows()).at(-1)?.told_at ?? undefined
  const about = () => mails.mails.filter(({ content }) => content.includes(`lead ${lead} `))
  const closed = async () =>
    (
      await service.sql
        .selectFrom('leads')
        .select(['closed_at', 'close_reason'])
        .where('id', '=', lead)
        .executeTakeFirstOrThrow()
    ).close_reason
  const isClosed = () => until(async () => (await closed()) ?? undefined)
  const makeDue = () =>
    service.sql
      .updateTable('closings')
      .set({ due_at: raw<Date>`clock_timestamp()` })
      .where('lead_id', '=', lead)
      .execute()
  const startedAgo = (ago: string) =>
    service.sql
      .updateTable('closings')
      .set({ started_at: raw<Date>`clock_timestamp() - ${ago}::interval` })
      .where('lead_id', '=', lead)
      .execute()
  const moveDate = async () => {
    await makeDue()
    // as the API does, which answers without waiting for it
    await createClosingStarter(context)(lead)
  }
  const shown = async () => (await post('get-lead', { lead_id: lead })).body.closing
  const auditOfLead = async () =>
    (await auditOf(context))
      .filter(({ lead_id: id, action }) => id === lead && action.startsWith('lead.'))
      .map(({ actor, action, outcome }) => [actor, action, outcome])
  const isOver = () => service.client.workflow.getHandle(`closing-${lead}`).result()

  it('is carried out after 24 hours, and partner and staff are told before; until then the journey goes on', async () => {
    const { requested_at, closes_at } = await request()
    expect((Date.parse(`${closes_at}Z`) - Date.parse(`${requested_at}Z`)) / 3_600_000).toBeCloseTo(24, 3)
    expect(await shown()).toEqual({ state: 'pending', at: closes_at, reason: 'withdrew' })
    await until(isTold)
    expect(about().map(({ to }) => to)).toEqual([production.contact, STAFF_EMAIL])
    const [toPartner, toStaff] = about()
    expect(toPartner?.content).toContain(`Lead ${lead} is going to be closed`)
    expect(toPartner?.content).toContain('Reason: the borrower withdrew.')
    expect(toPartner?.content).toContain('"cancel": true')
    expect(toStaff?.content).toContain(`closing cancel ${lead}`)
    expect(toStaff?.content).toContain(`closing cancel --key ${production.keyId}`)
    await service.referrals.signal(lead, 'contract_signed')
    await leadsOf(service, partner).recorded(lead, 'contract_signed')
    expect(await closed()).toBeNull()
    await moveDate()
    expect(await isClosed()).toBe('withdrew')
    await isOver()
    expect(await shown()).toMatchObject({ state: 'closed', reason: 'withdrew' })
    expect(about()).toHaveLength(2)
    // nobody else closed it
    expect(await auditOfLead()).toEqual([
      [`key ${production.keyId}`, 'lead.request_closing', 'done'],
      [`key ${production.keyId}`, 'lead.close', 'begun'],
      [`key ${production.keyId}`, 'lead.close', 'done'],
    ])
  })

  it('keeps the first request when it is repeated, with another reason too', async () => {
    const first = await request()
    expect(await request('duplicate')).toEqual(first)
    expect(await rows()).toHaveLength(1)
  })

  it('is never carried out once it is canceled, and can be requested again', async () => {
    await request()
    await until(isTold)
    expect((await cancel()).body.data).toMatchObject({ lead_id: lead, closes_at: null })
    await isOver()
    await makeDue()
    expect(await stepClosing(service.sql, lead)).toEqual({ kind: 'over' })
    expect(await shown()).toBeUndefined()
    // a repeat, and nothing to cancel, is no error
    expect((await cancel()).status).toBe(200)
    expect((await auditOfLead()).map(([, action]) => action)).toEqual([
      'lead.request_closing',
      'lead.cancel_closing',
    ])
    await request('duplicate')
    expect(await shown()).toMatchObject({ state: 'pending', reason: 'duplicate' })
  })

  it('ends when its lead is closed otherwise before anybody could be told', async () => {
    mails.refusing = [production.contact, STAFF_EMAIL]
    const refusals = mails.refused.length
    await request()
    await until(async () => mails.refused.length > refusals)
    await close(context, lead, { reason: 'duplicate' })
    await isOver()
    mails.refusing = []
    expect(await rows()).toMatchObject([{ told_at: null, ended_at: expect.any(Date) }])
    expect(await closed()).toBe('duplicate')
    expect(about()).toEqual([])
  })

  it('cannot be canceled once it has begun, and then closes its lead', async () => {
    await request()
    await until(isTold)
    await makeDue()
    expect(await stepClosing(service.sql, lead)).toEqual({ kind: 'close', reason: 'withdrew' })
    const refused = await cancel()
    expect([refused.status, refused.body.error.code]).toEqual([409, 'LEAD_CLOSED'])
    await expect(closings.cancel(context, lead)).rejects.toThrow(`No closing of lead ${lead} is waiting`)
    // as after a crash right then
    await createClosingStarter(context)(lead)
    expect(await isClosed()).toBe('withdrew')
  })

  it('is carried out or canceled, never both, when these come at the same moment', async () => {
    await request()
    await until(isTold)
    await makeDue()
    const [step, canceled] = await Promise.all([stepClosing(service.sql, lead), cancel()])
    const [row] = await rows()
    const seen = [canceled.status, step?.kind, row?.canceled_at !== null, row?.begun_at !== null]
    expect([
      [200, 'over', true, false],
      [409, 'close', false, true],
    ]).toContainEqual(seen)
  })

  it('is over when staff close the lead meanwhile, for their reason', async () => {
    await request()
    await until(isTold)
    await close(context, lead, { reason: 'unreachable' })
    expect(await shown()).toMatchObject({ state: 'closed', reason: 'unreachable' })
    const refused = await cancel()
    expect([refused.status, refused.body.error.code]).toEqual([409, 'LEAD_CLOSED'])
    expect((await closings.list(context)).json.closings.map(({ lead_id: id }) => id)).not.toContain(lead)
    await moveDate()
    await isOver()
    expect((await rows())[0]?.ended_at).not.toBeNull()
    expect(await closed()).toBe('unreachable')
  })

  it('is over when the lead is erased meanwhile', async () => {
    await request()
    await until(isTold)
    await erase(context, lead, { reason: 'other' })
    expect((await cancel()).status).toBe(404)
    expect((await post('close-lead', { lead_id: lead, reason: 'other' })).status).toBe(404)
    await moveDate()
    await isOver()
    expect(await closed()).toBe('erased')
  })

  it('stands when the borrower becomes mortgage ready meanwhile', async () => {
    await request()
    await until(isTold)
    await service.referrals.signal(lead, 'mortgage_ready')
    await leadsOf(service, partner).recorded(lead, 'mortgage_ready')
    await moveDate()
    expect(await isClosed()).toBe('withdrew')
  })

  it('is refused for a lead that is closed', async () => {
    await close(context, lead, { reason: 'withdrew' })
    const { status, body } = await post('close-lead', { lead_id: lead, reason: 'withdrew' })
    expect([status, body.error]).toEqual([
      409,
      { code: 'LEAD_CLOSED', message: 'The lead is closed, which is final: get-lead shows when, and why.' },
    ])
  })

  it('is not carried out before somebody could be told by email, and then leaves twenty hours', async () => {
    mails.refusing = true
    const before = mails.refused.length
    await request()
    await until(async () => mails.refused.length > before)
    await makeDue()
    expect(await stepClosing(service.sql, lead)).toBeUndefined()
    mails.refusing = false
    await until(isTold)
    const hours = ((await rows())[0]?.due_at?.getTime() ?? 0) - Date.now()
    expect(hours / 3_600_000).toBeCloseTo(20, 1)
    expect(await closed()).toBeNull()
    await cancel()
  }, 60_000)

  it('tells staff where the partner has no contact', async () => {
    await production.setContact(null)
    await request()
    await until(isTold)
    expect(about().map(({ to }) => to)).toEqual([STAFF_EMAIL])
    await production.setContact(production.contact)
    await cancel()
  })

  it('is told of, long before it is due, though its workflow was terminated before that', async () => {
    mails.refusing = true
    const before = mails.refused.length
    await request()
    await until(async () => mails.refused.length > before)
    await service.client.workflow.getHandle(`closing-${lead}`).terminate()
    mails.refusing = false
    await startedAgo('2 minutes')
    // the worker sweeps
    await until(isTold)
    expect(about().map(({ to }) => to)).toContain(production.contact)
    await cancel()
  })

  it('is found by the sweep when nobody started it, and when its workflow was terminated', async () => {
    await request()
    await until(isTold)
    const finds = async () => (await closingsToStart(service.sql, 100)).includes(lead)
    await service.client.workflow.getHandle(`closing-${lead}`).terminate()
    expect(await finds()).toBe(false)
    await startedAgo('2 minutes')
    expect(await finds()).toBe(false)
    await service.sql
      .updateTable('closings')
      .set({ due_at: raw<Date>`clock_timestamp() - interval '2 minutes'` })
      .where('lead_id', '=', lead)
      .execute()
    // the worker sweeps
    expect(await isClosed()).toBe('withdrew')
  })

  // the last one, because every lead goes on in another generation after it
  it('is told of again after a restore, which may have lost that it was canceled, and then leaves twenty hours', async () => {
    await request()
    await until(isTold)
    await service.sql.transaction().execute(async (trx) => {
      const due = { due_at: raw<Date>`clock_timestamp()` }
      await trx.updateTable('closings').set(due).where('lead_id', '=', lead).execute()
      await raiseGeneration(trx, 'staff')
    })
    await until(isTold)
    const hours = ((await rows())[0]?.due_at?.getTime() ?? 0) - Date.now()
    expect(hours / 3_600_000).toBeCloseTo(20, 1)
    expect(about()).toHaveLength(4)
    expect(await closed()).toBeNull()
    await cancel()
  })
})
