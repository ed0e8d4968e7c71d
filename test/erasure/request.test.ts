import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { eraseLeads } from '../../src/capabilities/erasure/statements/erase.ts'
import { reviewErasure } from '../../src/capabilities/erasure/statements/requests.ts'
import * as erasures from '../../src/capabilities/erasure/commands/erasure.ts'
import { raiseGeneration } from '../../src/core/record/statements/generation.ts'
import { showLead } from '../../src/core/leads/commands/lead-view.ts'
import { erasureTools } from '../../src/capabilities/erasure/statements/journal.ts'
import { createErasureStarter } from '../../src/capabilities/erasure/workflows/erasures.ts'
import { erase, hold, release } from '../../src/capabilities/erasure/commands/lead-erasure.ts'
import { requireLead } from '../../src/core/leads/commands/require-lead.ts'
import { auditOf } from '../staff/context.ts'
import { leadsOf } from '../support/leads.ts'
import { prepareProduction, type Production, STAFF_EMAIL } from '../support/production.ts'
import type { Service, TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

describe('an erasure that is requested in production', () => {
  let service: Service
  let partner: TestPartner
  let context: Production['context']
  let mails: Production['mails']
  let setContact: Production['setContact']
  let post: (
    path: string,
    body: object,
    as?: string,
  ) => Promise<{ status: number; retryAfter: string | null; body: Answer }>
  let contact: string
  let lead: number

  interface Answer {
    data: { lead_id: number; requested_at: string; due_at: string }
    error: { code: string; message: string }
  }

  beforeAll(async () => {
    const production = await prepareProduction()
    ;({ service, context, mails, partner, contact, setContact } = production)
    post = async (path, body, as) => {
      const answer = await production.post(path, body, as)
      return { ...answer, body: answer.body as Answer }
    }
  }, 60_000)

  beforeEach(async () => {
    lead = await leadsOf(service, partner).start()
  })

  const request = async () =>
    (await post('erase-lead', { lead_id: lead, reason: 'borrower_request' })).body.data
  const review = () => reviewErasure(service.sql, lead)
  const about = () => mails.mails.filter(({ content }) => content.includes(`lead ${lead}.`))
  const letTimePass = async () => {
    await until(async () => (await review())?.isTold)
    await moveDate()
  }
  const moveDate = async () => {
    await service.sql
      .updateTable('erasures')
      .set({ due_at: raw<Date>`due_at - interval '7 days'` })
      .where('lead_id', '=', lead)
      .execute()
    // as the API does, which answers without waiting for it
    await createErasureStarter(context)(lead)
  }
  /** How long its workflow has waited, or does. */
  const waitsInSeconds = async () => {
    const { events } = await service.client.workflow.getHandle(`erasure-${lead}`).fetchHistory()
    return events?.flatMap(({ timerStartedEventAttributes: timer }) =>
      timer ? Number(timer.startToFireTimeout?.seconds) : [],
    )
  }
  /** Whether the workflow waits for the end of a hold. */
  const waitsForADay = async () => (await waitsInSeconds())?.includes(86_400)
  const isChecked = () => until(async () => (await review())?.isChecked)
  const isFound = async () => (await post('get-lead', { lead_id: lead })).status === 200

  it('is carried out after seven days, and partner and staff are told before', async () => {
    const { requested_at, due_at } = await request()
    const days = (Date.parse(`${due_at}Z`) - Date.parse(`${requested_at}Z`)) / 86_400_000
    expect(days).toBeCloseTo(7, 3)
    await until(async () => (await review())?.isTold)
    expect(about().map(({ to }) => to)).toEqual([contact, STAFF_EMAIL])
    const [toPartner, toStaff] = about()
    expect(toPartner?.content).toContain(`Lead ${lead} is going to be erased`)
    expect(toPartner?.content).toContain('Reason: the borrower asked for it.')
    expect(toPartner?.content).toContain('we can cancel it')
    expect(toStaff?.content).toContain(`erasure cancel ${lead}`)
    expect(await isFound()).toBe(true)
    await letTimePass()
    await isChecked()
    expect(await isFound()).toBe(false)
    expect(about()).toHaveLength(2)
  })

  it('keeps the dates of the first request when it is repeated', async () => {
    const first = await request()
    expect(await request()).toEqual(first)
    const rows = await service.sql.selectFrom('erasures').select('id').where('lead_id', '=', lead).execute()
    expect(rows).toHaveLength(1)
  })

  it('is never carried out once staff have canceled it, and can be requested again', async () => {
    await request()
    await erasures.cancel(context, lead)
    const workflow = service.client.workflow.getHandle(`erasure-${lead}`)
    expect(await workflow.result()).toBe('canceled')
    const due = { by: 'service', reason: 'requested' as const, onlyDue: true }
    expect(await eraseLeads(service.sql, [lead], erasureTools(context.config), due)).toEqual([])
    expect(await isFound()).toBe(true)
    await expect(erasures.cancel(context, lead)).rejects.toThrow(`No erasure of lead ${lead} is waiting`)
    await request()
    expect((await review())?.dueInMs).toBeGreaterThan(0)
    expect((await erasures.list(context)).text).toContain(`${lead} `)
  })

  it('is refused with the reason while the lead is held', async () => {
    await hold(context, lead, { reason: 'litigation', reference: 'CASE-26-118' })
    expect(await post('erase-lead', { lead_id: lead })).toMatchObject({
      status: 409,
      body: {
        error: {
          code: 'LEAD_HELD',
          message:
            'The lead is under a legal hold and cannot be erased: a lawsuit is pending or expected, reference CASE-26-118.',
        },
      },
    })
    await expect(erase(context, lead, { reason: 'other' })).rejects.toThrow(
      'litigation, reference CASE-26-118',
    )
    const shown = await showLead(context, await requireLead(context.sql, lead))
    expect(shown.text).toMatch(/held because +litigation, reference CASE-26-118/)
    await release(context, lead)
    await expect(release(context, lead)).rejects.toThrow('is not held')
    expect((await post('erase-lead', { lead_id: lead })).status).toBe(200)
  })

  it('waits for a hold that came after it, and is carried out when that ends', async () => {
    await request()
    await hold(context, lead, { reason: 'litigation' })
    await letTimePass()
    await until(waitsForADay)
    expect(
      await eraseLeads(service.sql, [lead], erasureTools(context.config), { by: 'x', reason: 'other' }),
    ).toEqual([])
    expect(await isFound()).toBe(true)
    await release(context, lead)
    await isChecked()
    expect(await isFound()).toBe(false)
  })

  it('is carried out at once by staff, whether or not it was requested', async () => {
    await request()
    const other = await leadsOf(service, partner).start()
    for (const id of [lead, other]) {
      const { json, text } = await erase(context, id, { reason: 'legal_obligation', reference: 'DSAR-7' })
      expect(json).toEqual({ lead_id: id, outcome: 'erased' })
      expect(text).toBe(`Erased lead ${id}. For the certificate: erasure show ${id}.`)
    }
    expect((await erasures.showErasure(context, lead)).text).toMatch(
      /requested by +key \d+[^]*erased by +tester/,
    )
    expect((await erasures.showErasure(context, other)).text).toMatch(
      /requested by +tester[^]*reason +legal_obligation\n *reference +DSAR-7/,
    )
    const audit = (await auditOf(context)).filter(({ lead_id: id }) => id === other)
    expect(audit).toMatchObject([
      {
        actor: 'tester',
        action: 'lead.erase',
        outcome: 'done',
        detail: { reason: 'legal_obligation', reference: 'DSAR-7' },
      },
    ])
  })

  it('is completed by the sweep long before its day, where staff erased it and could not reach Temporal', async () => {
    await request()
    await until(async () => (await review())?.isTold)
    await until(async () => (await waitsInSeconds())?.some((seconds) => seconds > 6 * 86_400))
    const erasing = { by: 'tester', reason: 'other' as const }
    await eraseLeads(service.sql, [lead], erasureTools(context.config), erasing)
    await service.sql
      .updateTable('erasures')
      .set({
        started_at: raw<Date>`started_at - interval '2 minutes'`,
        erased_at: raw<Date>`erased_at - interval '1 minute'`,
      })
      .where('lead_id', '=', lead)
      .execute()
    // the worker sweeps
    await isChecked()
    expect(await isFound()).toBe(false)
  })

  it('is not carried out before somebody could be told by email, and then leaves six days', async () => {
    mails.refusing = true
    const { refused } = mails
    const before = refused.length
    await request()
    await until(async () => refused.length > before)
    await moveDate()
    const due = { by: 'service', reason: 'requested' as const, onlyDue: true }
    expect(await eraseLeads(service.sql, [lead], erasureTools(context.config), due)).toEqual([])
    expect(await isFound()).toBe(true)
    mails.refusing = false
    await until(async () => (await review())?.isTold)
    expect(((await review())?.dueInMs ?? 0) / 86_400_000).toBeCloseTo(6, 2)
    expect(await isFound()).toBe(true)
    await letTimePass()
    await isChecked()
  }, 60_000)

  it('is carried out at once by staff though nobody could be told', async () => {
    mails.refusing = true
    await request()
    expect((await erase(context, lead, { reason: 'other' })).json.outcome).toBe('erased')
    mails.refusing = false
  })

  it('tells staff where the partner has no contact', async () => {
    await setContact(null)
    await request()
    await until(async () => (await review())?.isTold)
    expect(about().map(({ to }) => to)).toEqual([STAFF_EMAIL])
    await setContact(contact)
  })

  // the last one, because every lead goes on in another generation after it
  it('is told of again after a restore, which may have lost that it was canceled, and then leaves six days', async () => {
    await request()
    await until(async () => (await review())?.isTold)
    await service.sql.transaction().execute(async (trx) => {
      const due = { due_at: raw<Date>`clock_timestamp()` }
      await trx.updateTable('erasures').set(due).where('lead_id', '=', lead).execute()
      await raiseGeneration(trx, 'staff')
    })
    await until(async () => (await review())?.isTold)
    expect(((await review())?.dueInMs ?? 0) / 86_400_000).toBeCloseTo(6, 2)
    expect(about()).toHaveLength(4)
    expect(await isFound()).toBe(true)
    const ids = about().map(({ content }) => /^Message-ID:\s+(\S+)/im.exec(content)?.[1])
    expect(new Set(ids).size).toBe(4)
  })
})
