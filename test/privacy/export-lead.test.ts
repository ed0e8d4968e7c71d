import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { exportedLeadSchema } from '../../src/privacy/exported-lead.ts'
import { setEndpoint } from '../../src/endpoints/switch-endpoint.ts'
import { closeLead } from '../../src/leads/closing.ts'
import { recordMilestones } from '../../src/leads/record-milestones.ts'
import { recordAudit } from '../../src/audit.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { exportLead } from '../../src/privacy/staff.ts'
import { auditOf, contextOf, withoutTemporal } from '../staff/context.ts'
import { until } from '../support/until.ts'
import { type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'

const EVENTS = 25_000

describe('export-lead', () => {
  let api: Api
  let partner: ApiPartner
  let leadId: number
  /** On the same database, with more patience than the API. */
  let context: StaffContext

  beforeAll(async () => {
    api = await prepareApi()
    partner = await api.addPartner()
    context = await contextOf(withoutTemporal(await databaseUrl()))
    leadId = await partner.createLead({ notes: 'two late payments', partner_lead_id: 'LOAN-1' })
    await partner.post('update-partner-info', { lead_id: leadId, loan_product: 'FHA', branch: 'Oakland' })
    await raw`insert into attempts (id, event_id, partner_id, number, trigger, endpoint_revision, url, finished_at, status, response_body)
      select 'att_' || n, event_id, partner_id, n, 'scheduled', 1, 'https://lender.example', now(), 503, 'try later' from deliveries, generate_series(1, 3) n
      where lead_id = ${leadId}`.execute(api.sql)
    await recordAudit(api.sql, 'Kim Staff', {
      action: 'milestone',
      outcome: 'done',
      leadId,
      partnerId: partner.id,
      detail: { name: 'contract_signed' },
    })
  })

  const exported = async (lead = leadId) => (await partner.post('export-lead', { lead_id: lead })).body.data

  it('returns everything that is kept of a lead, and says what each part is', async () => {
    const data = await exported()
    expect(exportedLeadSchema.strict().parse(data)).toEqual(data)
    expect(Object.keys(data)).toEqual(['about', 'exported_at', ...Object.keys(data.about)])
    expect(data).toMatchObject({
      lead: {
        ...borrower,
        lead_id: leadId,
        partner_id: partner.id,
        notes: 'two late payments',
        metadata: { loan_product: 'FHA', branch: 'Oakland' },
      },
      workflow: { workflow_id: `lead-${leadId}` },
      events: [{ sequence: 1, event_name: 'lead_received', event_payload: { partner_lead_id: 'LOAN-1' } }],
    })
    const [delivery] = data.deliveries
    expect(JSON.parse(delivery.body)).toMatchObject({ type: 'lead_received', data: { lead_id: leadId } })
    expect(delivery.attempts).toMatchObject(
      [1, 2, 3].map((number) => ({ number, response_body: 'try later' })),
    )
  })

  it('has no next attempt for a webhook that waits for another, as get-deliveries has none', async () => {
    const lead = await partner.createLead()
    const milestone = { name: 'contract_signed', dedupeKey: 'contract_signed' } as const
    await setEndpoint(api.sql, partner.id, { url: 'https://lender.example/webhooks', secret: () => 'none' })
    await recordMilestones(api.sql, lead, [milestone], () => '{}')
    const { deliveries } = await exported(lead)
    const listed = (await partner.post('get-deliveries', { lead_id: lead })).body.data.toReversed()
    const nextOf = (rows: { next_attempt_at: string | null }[]) => rows.map((row) => row.next_attempt_at)
    expect(nextOf(deliveries)).toEqual([expect.any(String), null])
    expect(nextOf(deliveries)).toEqual(nextOf(listed))
  })

  it('says what was done with the lead, without names of staff', async () => {
    const { actions } = await exported()
    expect(actions).toEqual([{ at: expect.any(String), action: 'milestone', outcome: 'done', by: 'staff' }])
    expect(JSON.stringify(actions)).not.toMatch(/kim/i)
  })

  it('has an Idempotency-Key as long as that is kept', async () => {
    const headers = { 'idempotency-key': 'K-1' }
    const { body } = await partner.post('create-lead', borrower, headers)
    expect((await exported(body.lead_id)).idempotency_keys).toEqual([
      { key: 'K-1', created_at: expect.any(String) },
    ])
  })

  it('answers a lead of another partner byte for byte like one that never was', async () => {
    const stranger = await api.addPartner()
    const foreign = await stranger.post('export-lead', { lead_id: leadId })
    const unknown = await stranger.post('export-lead', { lead_id: 999_999 })
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
    expect((await stranger.post('export-lead', {})).status).toBe(400)
  })

  it(`streams a lead of ${EVENTS} events, complete and in order`, async () => {
    const long = await partner.createLead()
    await raw`with added as (
        insert into lead_events (id, lead_id, partner_id, position, event_name, dedupe_key, created_at)
        select 'evt_' || lpad(n::text, 40, '0'), ${long}, ${partner.id}, n, 'client_engaged_in_chat', 'chat:' || n, now()
        from generate_series(2, ${EVENTS}::int) n returning id, position
      ) insert into deliveries (event_id, lead_id, partner_id, sequence, body, next_attempt_at)
      select id, ${long}, ${partner.id}, position, '{}', now() from added where position <= 1000`.execute(
      context.sql,
    )
    const address = await api.app.listen({ port: 0, host: '127.0.0.1' })
    const response = await fetch(`${address}/v1/export-lead`, {
      method: 'POST',
      headers: { authorization: `Service-Key ${partner.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ lead_id: long }),
    })
    expect(response.headers.get('transfer-encoding')).toBe('chunked')
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const { data } = (await response.json()) as {
      data: { events: { event_id: string; sequence: number | null }[]; deliveries: { sequence: number }[] }
    }
    const counted = (length: number) => Array.from({ length }, (_, index) => index + 1)
    expect(data.events.slice(1).map(({ event_id: id }) => Number(id.slice(4)))).toEqual(
      counted(EVENTS).slice(1),
    )
    expect(data.events.map(({ sequence }) => sequence)).toEqual(
      counted(EVENTS).map((number) => (number <= 1000 ? number : null)),
    )
    expect(data.deliveries.map(({ sequence }) => sequence)).toEqual(counted(1000))
  })

  it('holds every attempt of a webhook that was attempted a thousand times', async () => {
    const lead = await partner.createLead()
    await raw`insert into attempts (id, event_id, partner_id, number, trigger, endpoint_revision, url, finished_at, status)
      select 'att_${raw.raw(String(lead))}_' || n, event_id, partner_id, n, 'resend', 1, 'https://lender.example', now(), 503
      from deliveries, generate_series(1, 1000) n where lead_id = ${lead}`.execute(context.sql)
    const { deliveries } = await exported(lead)
    const numbers = deliveries[0].attempts.map(({ number }: { number: number }) => number)
    expect(numbers).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1))
  })

  it('is made one at a time for each partner: 429 until the other is read, or its reader is gone', async () => {
    const long = await partner.createLead()
    await raw`insert into lead_events (id, lead_id, partner_id, position, event_name, dedupe_key, created_at)
      select 'evt_long' || lpad(n::text, 40, '0'), ${long}, ${partner.id}, n, 'client_engaged_in_chat', 'chat:' || n, now()
      from generate_series(2, 100000) n`.execute(context.sql)
    const leaving = await stalledExport(long)
    const refused = await partner.post('export-lead', { lead_id: leadId })
    expect([refused.status, refused.body.error.code, refused.headers['retry-after']]).toEqual([
      429,
      'RATE_LIMITED',
      '5',
    ])
    const other = await api.addPartner()
    expect((await other.post('export-lead', { lead_id: await other.createLead() })).status).toBe(200)
    leaving.destroy()
    await until(async () => (await partner.post('export-lead', { lead_id: leadId })).status === 200)

    // a reader that stands still for as long as the lease lasts
    const standing = await stalledExport(long)
    await api.sql
      .updateTable('exports')
      .set({ leased_until: new Date(0) })
      .execute()
    const next = await stalledExport(long)
    standing.destroy()
    expect((await partner.post('export-lead', { lead_id: leadId })).status).toBe(429)
    next.destroy()
    await until(async () => (await partner.post('export-lead', { lead_id: leadId })).status === 200)
    const again = [await exported(), await exported()]
    expect(again.map(({ lead }) => lead.lead_id)).toEqual([leadId, leadId])
  })

  /** An export whose response has begun, and is not read on. */
  function stalledExport(lead: number) {
    const { port } = api.app.server.address() as AddressInfo
    return new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Service-Key ${partner.key}`, 'content-type': 'application/json' }
      const call = request(
        { port, host: '127.0.0.1', method: 'POST', path: '/v1/export-lead', headers },
        (response) => {
          expect(response.statusCode).toBe(200)
          resolve(response.pause())
        },
      )
      call.on('error', reject).end(JSON.stringify({ lead_id: lead }))
    })
  }

  it('says when the lead was closed, as get-lead does', async () => {
    const id = await partner.createLead()
    await closeLead(api.sql, id, 'withdrew')
    const closed = await partner.readLead(id)
    expect(closed.closed_at).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    expect((await exported(id)).closing).toEqual({ closed_at: closed.closed_at, reason: 'withdrew' })
  })

  it('has notes as metadata, which get-lead returns; those of create-lead stay and are not returned', async () => {
    const lead = await partner.createLead({ notes: 'of create-lead' })
    expect(await partner.readLead(lead)).not.toHaveProperty('notes')
    await partner.post('update-partner-info', { lead_id: lead, notes: 'called\ttwice\nno answer' })
    expect(await partner.readLead(lead)).toHaveProperty('notes', 'called\ttwice\nno answer')
    expect((await exported(lead)).lead).toMatchObject({
      notes: 'of create-lead',
      metadata: { notes: 'called\ttwice\nno answer' },
    })
    await partner.post('update-partner-info', { lead_id: lead, notes: null })
    expect(await partner.readLead(lead)).not.toHaveProperty('notes')
    expect((await exported(lead)).lead).toMatchObject({ notes: 'of create-lead', metadata: {} })
  })

  it('is for staff with their names, and written down before it is printed', async () => {
    const pieces: string[] = []
    const before: string[] = []
    const { print } = await exportLead(context, leadId)
    await print(false, async (piece) => {
      if (pieces.length === 0) before.push(...(await auditOf(context)).map(({ action }) => action))
      pieces.push(piece)
    })
    expect(before).toEqual(['milestone', 'lead.export'])
    const document = JSON.parse(pieces.join(''))
    expect(document.lead).toEqual((await exported()).lead)
    expect(document.actions).toMatchObject([
      { actor: 'Kim Staff', detail: { name: 'contract_signed' } },
      { action: 'lead.export', actor: 'tester' },
    ])
    expect(await auditOf(context)).toHaveLength(2)
    await expect(exportLead(context, 999_999)).rejects.toThrow('There is no lead 999999')
  })

  async function databaseUrl(): Promise<string> {
    const { rows } = await raw<{ name: string }>`select current_database() as name`.execute(api.sql)
    const url = new URL(process.env.TEST_DATABASE_URL ?? '')
    url.pathname = `/${rows[0]?.name}`
    return url.href
  }
})
