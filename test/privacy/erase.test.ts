import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { erase, hold, release } from '../../src/privacy/staff.ts'
import { sandboxPartner } from '../sandbox/partner.ts'
import { auditOf, contextOf } from '../staff/context.ts'
import { temporaryFolder } from '../support/folder.ts'
import { prepareService, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'

const mark = randomBytes(5).toString('hex')
const canary = (field: string) => `canary${mark}${field}`
const LEAD = {
  first_name: canary('First'),
  last_name: canary('Last'),
  email: `${canary('mail')}@example.com`,
  phone: `+1 ${randomBytes(6).readUIntBE(0, 6)} 4711`,
  fico_range: '501-507',
  loan_officer_id: canary('Officer'),
  notes: `${canary('Notes')} lost his job`,
}

describe('a lead that is erased', () => {
  let service: Service
  let partner: Awaited<ReturnType<typeof sandboxPartner>>
  let context: Awaited<ReturnType<typeof contextOf>>
  let log: string
  let lead: number
  let eventIds: string[]
  let answerLate: () => void

  beforeAll(async () => {
    log = path.join(temporaryFolder(), 'erasures.jsonl')
    service = await prepareService({ ERASURE_LOG: log })
    const [api] = await Promise.all([service.startApi(), service.startWorker()])
    partner = await sandboxPartner(service, api.port)
    context = await contextOf(service.environment)
    lead = await createLead()
    await partner.endpoint.until(({ length }) => length === 1)
    const late = Promise.withResolvers<void>()
    answerLate = late.resolve
    // the next answer is still awaited when the lead is erased
    partner.endpoint.answer = (_, response) =>
      void late.promise.then(() => response.writeHead(500).end(canary('Answer')))
    await partner.simulate(lead, { event_name: 'contract_signed' })
    await partner.simulate(lead, { event_name: 'escrow_funded' })
    await partner.endpoint.until(({ length }) => length === 2)
    // transactions in the server's other databases hold events back for a moment
    eventIds = await until(async () => {
      const ids = await eventsOf()
      return ids.length === 3 && ids
    })
  }, 60_000)

  async function createLead(): Promise<number> {
    const { lead_id: leadId } = await partner.post('create-lead', LEAD, {
      'idempotency-key': canary(`Key${randomBytes(4).toString('hex')}`),
    })
    await partner.post('update-partner-info', {
      lead_id: leadId,
      branch: canary('Metadata'),
      property_state: 'TX',
    })
    return leadId
  }

  /** Tables in which a text occurs. */
  async function rowsWith(text: string): Promise<string[]> {
    const { rows } = await raw<{ name: string }>`
      select tablename::text as name from pg_tables where schemaname = current_schema()`.execute(service.sql)
    const found: string[] = []
    for (const { name } of rows) {
      const { rows: hits } = await raw`
        select 1 from ${raw.id(name)} as t where t::text like ${`%${text}%`} limit 1`.execute(service.sql)
      if (hits.length > 0) found.push(name)
    }
    return found
  }

  /** What the other tables' search cannot read. */
  const sealedOf = (id = lead) =>
    service.sql.selectFrom('leads').select(['personal', 'email_hash']).where('id', '=', id).executeTakeFirst()

  const eventsOf = async () => {
    const { data } = (await partner.post('list-events', {})) as unknown as {
      data: { lead_id: number; event_id: string }[]
    }
    return data.filter(({ lead_id: id }) => id === lead).map(({ event_id: id }) => id)
  }
  const handle = (id = lead) => service.client.workflow.getHandle(`lead-${id}`)
  const linesOf = () =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { lead_id: number })

  it('is not found by any call, and nothing of it is left in any table', async () => {
    expect((await rowsWith(`canary${mark}`)).toSorted()).toEqual(['idempotency_keys', 'leads'])
    expect(await sealedOf()).toMatchObject({
      personal: expect.any(String),
      email_hash: expect.any(String),
    })
    const { email_hash: hash } = (await sealedOf())!
    const erased = await partner.post('erase-lead', { lead_id: lead, reason: 'borrower_request' })
    expect(erased).toMatchObject({ status: 200, data: { lead_id: lead, erased_at: expect.any(String) } })
    for (const text of [`canary${mark}`, LEAD.phone, LEAD.fico_range, hash ?? '?'])
      expect(await rowsWith(text)).toEqual([])
    expect(await sealedOf()).toEqual({ personal: null, email_hash: null })

    const unknown = await partner.post('get-lead', { lead_id: 999_999 })
    const calls: [string, object][] = [
      ['get-lead', {}],
      ['get-events', {}],
      ['get-deliveries', {}],
      ['update-partner-info', { branch: 'Austin' }],
      ['update-partner-info', {}],
      ['close-lead', { reason: 'other' }],
      ['erase-lead', {}],
      ['sandbox/get-clock', {}],
      ['sandbox/advance-clock', { days: 1 }],
      ['sandbox/simulate-event', { event_name: 'mortgage_ready' }],
      ['sandbox/run-scenario', { scenario: 'dropped_out' }],
    ]
    for (const [name, fields] of calls) {
      const { status, error } = await partner.post(name, { ...fields, lead_id: lead })
      expect([name, status, error]).toEqual([name, 404, unknown.error])
    }
    for (const event_id of eventIds)
      expect(await partner.post('resend-webhook', { event_id })).toMatchObject({ status: 404 })
    expect(await rowsWith('Austin')).toEqual([])
  })

  it('stores nothing of an answer that comes after its erasure', async () => {
    const { length } = await service.sql.selectFrom('attempts').select('id').execute()
    answerLate()
    await until(async () => {
      const open = service.sql.selectFrom('attempts').select('id').where('finished_at', 'is', null)
      return (await open.execute()).length === 0
    })
    expect(length).toBe(2)
    for (const text of [`canary${mark}`, LEAD.phone]) expect(await rowsWith(text)).toEqual([])
  })

  it('keeps its ids and milestones, and is not listed', async () => {
    expect(await eventsOf()).toEqual(eventIds)
    expect((await partner.post('list-leads', {})).data).toEqual([])
    for (const event_id of eventIds) {
      const { data } = (await partner.post('get-deliveries', { event_id })) as unknown as {
        data: { attempts: { response_headers: unknown; response_body: unknown }[] }[]
      }
      const answers = data[0]?.attempts.map((made) => [made.response_headers, made.response_body])
      expect(new Set(answers?.flat())).toEqual(new Set(answers?.length === 0 ? [] : [null]))
    }
    const deliveries = await service.sql
      .selectFrom('deliveries')
      .select('state')
      .where('lead_id', '=', lead)
      .orderBy('sequence')
      .execute()
    expect(deliveries.map(({ state }) => state)).toEqual(['delivered', 'canceled', 'canceled'])
  })

  it('gets no more events from its workflow, which ends once it learns of the erasure', async () => {
    const { length } = partner.endpoint.arrivals
    await service.referrals.signal(lead, 'mortgage_ready')
    await handle().result()
    expect(await eventsOf()).toEqual(eventIds)
    expect(partner.endpoint.arrivals).toHaveLength(length)
  })

  it('is a line in the erasure log, with ids only', async () => {
    expect(linesOf()).toEqual([
      { deployment: await context.deployment(), lead_id: lead, event_id: eventIds[0] },
    ])
  })

  it('is in the audit, with who and why, and refused to staff', async () => {
    const audit = (await auditOf(context)).filter(({ lead_id: id }) => id === lead)
    expect(audit.map(({ actor, action, detail }) => [actor, action, detail])).toEqual([
      [expect.stringMatching(/^key \d+$/), 'lead.erase', { reason: 'borrower_request' }],
    ])
    await expect(erase(context, lead, { reason: 'other' })).rejects.toThrow(
      /^Lead \d+ was erased at .* UTC: see "audit list --lead \d+"\.$/,
    )
  })

  it('is kept while it is held, and the partner is told why', async () => {
    const held = await createLead()
    await hold(context, held, { reason: 'litigation', reference: '26-118' })
    const { status, error } = await partner.post('erase-lead', { lead_id: held })
    expect([status, error]).toEqual([
      409,
      {
        code: 'LEAD_HELD',
        lead_id: held,
        message:
          'The lead is under a legal hold and cannot be erased: a lawsuit is pending or expected, reference 26-118.',
      },
    ])
    await expect(erase(context, held, { reason: 'other' })).rejects.toThrow('is held and cannot be erased')
    expect((await sealedOf(held))?.personal).toEqual(expect.any(String))
    await release(context, held)
    await erase(context, held, { reason: 'borrower_request' })
    expect((await sealedOf(held))?.personal).toBeNull()
    expect(linesOf().at(-1)).toMatchObject({ lead_id: held })
  })

  it('is not erased where the line cannot be written', async () => {
    const kept = await createLead()
    const elsewhere = await contextOf({ ...service.environment, ERASURE_LOG: `${log}/no` })
    await expect(erase(elsewhere, kept, { reason: 'other' })).rejects.toThrow('ENOTDIR')
    // as root may write everywhere, a folder in its place
    mkdirSync(`${log}.kept`)
    const api = await service.startApi({ ERASURE_LOG: `${log}.kept` })
    const other = await sandboxPartner(service, api.port)
    const others = (await other.post('create-lead', LEAD)).lead_id
    expect(await other.post('erase-lead', { lead_id: others })).toMatchObject({
      status: 503,
      error: { code: 'SERVICE_UNAVAILABLE' },
    })
    for (const id of [kept, others]) expect((await sealedOf(id))?.personal).toEqual(expect.any(String))
  })

  it('is erased again from the log after a restore, where deployment, lead and first event are the same', async () => {
    const ids = [await createLead(), await createLead(), await createLead(), await createLead()] as const
    const [same, another, foreign, held] = ids
    const before = await service.sql.selectFrom('leads').selectAll().where('id', 'in', ids).execute()
    for (const id of ids) await erase(context, id, { reason: 'other' })
    // the record as it was
    for (const { id, ...row } of before)
      await service.sql.updateTable('leads').set(row).where('id', '=', id).execute()
    await hold(context, held, { reason: 'complaint' })
    const file = path.join(temporaryFolder(), 'of-these.jsonl')
    const changed: Record<number, object> = {
      [another]: { event_id: 'evt_of_another_lead' },
      [foreign]: { deployment: 'another' },
    }
    const lines = linesOf().map((line) => JSON.stringify({ ...line, ...changed[line.lead_id] }))
    // a crash has left half a line
    writeFileSync(file, `${lines.join('\n')}\n{"deployment":`)
    const again = await erase(context, undefined, { from: file })
    expect(again.json).toMatchObject({ erased: [same], held: [held] })
    expect((await sealedOf(same))?.personal).toBeNull()
    for (const id of [another, foreign, held])
      expect((await sealedOf(id))?.personal).toEqual(expect.any(String))
    await expect(erase(context, same, { from: log })).rejects.toThrow(
      'Name a lead with --reason, or the file',
    )
  })
})
