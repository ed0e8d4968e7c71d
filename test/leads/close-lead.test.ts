import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { staff } from '../staff/context.ts'
import { leadsOf } from '../support/leads.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

describe('close-lead', () => {
  let service: SharedService
  let partner: TestPartner
  let post: (
    path: string,
    body: object,
    headers?: Record<string, string>,
  ) => Promise<{ status: number; body: Answer }>

  interface Answer {
    data: Record<string, unknown>
    closing?: { at: string; reason: string }
    error: { code: string; message: string }
  }

  beforeAll(async () => {
    service = await sharedService()
    partner = await service.addPartner()
    post = partnerCalls(service.port, partner.key).post as unknown as typeof post
  }, 60_000)

  const start = () => leadsOf(service, partner).start()

  it('closes the lead at once, with its rows in the audit', async () => {
    const lead = await start()
    const { status, body } = await post('close-lead', { lead_id: lead, reason: 'withdrew' })
    expect([status, body.data]).toEqual([
      200,
      {
        lead_id: lead,
        reason: 'withdrew',
        closed_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      },
    ])
    const { body: read } = await post('get-lead', { lead_id: lead })
    expect(read).toMatchObject({ closing: { at: body.data.closed_at, reason: 'withdrew' } })
    const { body: listed } = await post('list-leads', { closed: true, limit: 1 })
    expect(listed.data).toMatchObject([{ lead_id: lead, closed_at: body.data.closed_at }])
    const audit = await service.sql
      .selectFrom('audit')
      .select(['actor', 'action', 'outcome'])
      .where('lead_id', '=', lead)
      .orderBy('id')
      .execute()
    const by = expect.stringMatching(/^key \d+$/)
    expect(audit).toEqual([
      { actor: by, action: 'lead.close', outcome: 'begun' },
      { actor: by, action: 'lead.close', outcome: 'done' },
    ])
  })

  it('records what has arrived before, sends open webhooks, and has an entry in list-events', async () => {
    const lead = await start()
    await service.referrals.signal(lead, 'contract_signed')
    await post('close-lead', { lead_id: lead, reason: 'withdrew' })
    await partner.endpoint.until((all) => all.some(({ event }) => event.type === 'contract_signed'))
    const entry = await until(async () => {
      const { body } = await post('list-events', { limit: 100, webhooks: true })
      const of = (body.data as unknown as Record<string, unknown>[]).filter((each) => each.lead_id === lead)
      return of.at(-1)?.event_name === 'lead.closed' && of
    })
    expect(entry && entry.map(({ event_name: name }) => name)).toEqual([
      'lead_received',
      'contract_signed',
      'lead.closed',
    ])
    expect(entry && entry.at(-1)).toMatchObject({
      event_payload: { reason: 'withdrew' },
      sequence: null,
      webhook_body: null,
    })
    const { body } = await post('get-events', { lead_id: lead })
    expect(JSON.stringify(body)).not.toContain('lead.closed')
  })

  it('asks the workflow once for all requests with the same Idempotency-Key', async () => {
    const lead = await start()
    const key = { 'idempotency-key': 'close-118' }
    const body = { lead_id: lead, reason: 'withdrew' }
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => post('close-lead', body, key)))
    expect(first?.status).toBe(200)
    expect(others).toEqual([first, first])
    const { events } = await service.client.workflow.getHandle(`lead-${lead}`).fetchHistory()
    const asked = events?.flatMap(
      ({ workflowExecutionUpdateAcceptedEventAttributes: of }) => of?.acceptedRequest?.meta?.updateId ?? [],
    )
    expect(asked).toEqual(['close-118'])
    expect((await post('close-lead', body, { 'idempotency-key': 'with space' })).status).toBe(400)
  })

  it('is shown beside the data, where no custom field can replace it', async () => {
    const lead = await start()
    await post('update-partner-info', { lead_id: lead, closing: 'mine' })
    expect((await post('get-lead', { lead_id: lead })).body).not.toHaveProperty('closing')
    await post('close-lead', { lead_id: lead, reason: 'ineligible' })
    expect((await post('get-lead', { lead_id: lead })).body).toMatchObject({
      data: { closing: 'mine' },
      closing: { reason: 'ineligible' },
    })
  })

  it.each([
    [
      { lead_id: 1 },
      400,
      'Invalid request: reason is required: it must be one of withdrew, unreachable, ineligible, financed_elsewhere, duplicate, mistake, other.',
    ],
    [{ lead_id: 1, reason: 'erased' }, 400, 'Invalid request: reason must be one of withdrew, '],
    [{ lead_id: 2_000_000_000, reason: 'withdrew' }, 404, 'Lead not found.'],
  ])('answers %j with %d', async (body, status, message) => {
    const answer = await post('close-lead', body)
    expect([answer.status, answer.body.error.message]).toEqual([status, expect.stringContaining(message)])
  })

  it('stores no free-text reason in any table, from staff or from an update', async () => {
    const lead = await start()
    const TEXT = 'Ada Miller, born 1 Jan 1980'
    for (const verb of ['close', 'hold', 'erase'])
      expect(await staff(service.environment, ['lead', verb, `${lead}`, '--reason', TEXT])).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^error: option '--reason <reason>'[^\n]* Use one of [a-z_, ]*other\./),
      })
    const handle = service.client.workflow.getHandle(`lead-${lead}`)
    await handle.executeUpdate('close', { args: [{ reason: TEXT, note: TEXT }] })
    expect(await handle.result()).toBe('other')
    const { rows } = await raw<{ name: string }>`
      select tablename::text as name from pg_tables where schemaname = current_schema()`.execute(service.sql)
    for (const { name } of rows) {
      const found = raw`select from ${raw.id(name)} as t where t::text like '%born 1 Jan%'`
      expect([name, (await found.execute(service.sql)).rows]).toEqual([name, []])
    }
  })
})
