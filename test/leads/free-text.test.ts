import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { auditOf, staff } from '../staff/context.ts'
import { leadsOf } from '../support/leads.ts'
import { partnerCalls, prepareService, type Service } from '../support/service.ts'

const TEXT = 'Ada Miller, born 1 Jan 1980'

describe('a reason in words of one’s own, which would be kept for good', () => {
  let service: Service
  let refused: number
  let signaled: number
  let post: ReturnType<typeof partnerCalls>['post']
  const onCommandLine: Record<string, Awaited<ReturnType<typeof staff>>> = {}

  beforeAll(async () => {
    service = await prepareService()
    const [api] = await Promise.all([service.startApi(), service.startWorker()])
    const partner = await service.addPartner()
    ;({ post } = partnerCalls(api.port, partner.key))
    const leads = leadsOf(service, partner)
    refused = await leads.start()
    signaled = await leads.start()
    for (const verb of ['close', 'hold', 'erase'])
      onCommandLine[verb] = await staff(service.environment, ['lead', verb, `${refused}`, '--reason', TEXT])
  }, 60_000)

  const handleOf = (leadId: number) => service.client.workflow.getHandle(`lead-${leadId}`)
  const lead = async (leadId: number) =>
    service.sql.selectFrom('leads').selectAll().where('id', '=', leadId).executeTakeFirstOrThrow()

  /** What Temporal keeps of a lead, but for what was typed into a signal itself. */
  async function historyOf(leadId: number): Promise<string> {
    const { events } = await handleOf(leadId).fetchHistory()
    const own = (events ?? []).filter((event) => !event.workflowExecutionUpdateAcceptedEventAttributes)
    return JSON.stringify(own, (name, value: unknown) =>
      name === 'data' ? Buffer.from(String(value), 'base64').toString() : value,
    )
  }

  it.each(['close', 'hold', 'erase'])('is refused by lead %s, which lists what it takes', (verb) => {
    expect(onCommandLine[verb]).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^Option '--reason <reason>'[^\n]* Use one of [a-z_, ]*other\. Add --help for usage\.\n$/,
      ),
    })
  })

  it('is refused by erase-lead, which lists what it takes', async () => {
    const { status, body } = await post('erase-lead', { lead_id: refused, reason: TEXT })
    expect([status, body]).toEqual([
      400,
      {
        success: false,
        error: {
          code: 'INVALID_PAYLOAD',
          message: expect.stringMatching(
            /^Invalid request: reason must be one of borrower_request, [a-z_, ]*other\.$/,
          ),
          fields: [{ field: 'reason', problem: expect.stringMatching(/^must be one of [a-z_, ]*other$/) }],
        },
      },
    ])
  })

  it('that an operator types into an update counts as other, and is noted without its words', async () => {
    const handle = handleOf(signaled)
    await handle.executeUpdate('close', { args: [{ reason: TEXT, note: TEXT }] })
    expect(await handle.result()).toBe('other')
    expect(await lead(signaled)).toMatchObject({ closed_at: expect.any(Date), close_reason: 'other' })
    const { notes } = await handle.query<{ notes: object[] }>('state')
    expect(notes).toMatchObject([
      {
        what: 'close',
        why: expect.stringMatching(/^its reason is not one of withdrew, .*: it counts as other$/),
      },
      { what: 'close', why: 'of its argument, only reason counts' },
    ])
  })

  it('changed no lead where it was refused, and reached neither PostgreSQL nor Temporal’s history', async () => {
    expect(await lead(refused)).toMatchObject({ closed_at: null, held_at: null, erased_at: null })
    const { rows } = await raw<{ name: string }>`
      select tablename::text as name from pg_tables where schemaname = current_schema()`.execute(service.sql)
    for (const { name } of rows) {
      const { rows: hits } = await raw`
        select from ${raw.id(name)} as t where t::text like '%born 1 Jan%'`.execute(service.sql)
      expect([name, hits.length]).toEqual([name, 0])
    }
    const closed = (await auditOf(service)).map(({ action, lead_id: id, detail }) => [
      action,
      id,
      detail?.reason,
    ])
    expect(closed).toEqual([['lead.close', signaled, 'other']])
    for (const leadId of [refused, signaled]) expect(await historyOf(leadId)).not.toContain('born 1 Jan')
    expect(await historyOf(refused)).toContain('lead_received')
  })

  it('is refused by PostgreSQL too, as is a reference in words', async () => {
    const leads = (change: object) =>
      service.sql.updateTable('leads').set(change).where('id', '=', refused).execute()
    const at = new Date()
    const hold = { held_at: at, hold_reason: 'litigation' }
    for (const [change, check] of [
      [() => leads({ closed_at: at, close_reason: TEXT }), 'leads_close_reason_check'],
      [() => leads({ held_at: at, hold_reason: TEXT }), 'leads_hold_reason_check'],
      [() => leads({ ...hold, hold_reference: TEXT }), 'leads_hold_reference_check'],
      [() => leads({ ...hold, hold_reference: `CASE-1\n${TEXT}` }), 'leads_hold_reference_check'],
      [() => leads({ hold_reference: 'CASE-1' }), 'leads_hold_reference_check'],
    ] as const)
      await expect(change()).rejects.toThrow(check)
  })
})
