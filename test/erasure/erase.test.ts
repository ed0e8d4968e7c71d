import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { erasuresOf } from '../../src/capabilities/erasure/statements/requests.ts'
import { resend } from '../../src/core/deliveries/commands/delivery-resend.ts'
import * as erasures from '../../src/capabilities/erasure/commands/erasure.ts'
import { close } from '../../src/core/leads/commands/lead.ts'
import { erase } from '../../src/capabilities/erasure/commands/lead-erasure.ts'
import { showLead } from '../../src/core/leads/commands/lead-view.ts'
import { milestone } from '../../src/core/leads/commands/milestone.ts'
import { requireLead } from '../../src/core/leads/commands/require-lead.ts'
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

/** In a sandbox, where it is carried out at once. */
describe('a lead that is erased', () => {
  let service: Service
  let partner: Awaited<ReturnType<typeof sandboxPartner>>
  let context: Awaited<ReturnType<typeof contextOf>>
  let journal: string
  let lead: number
  let eventIds: string[]

  beforeAll(async () => {
    journal = path.join(temporaryFolder(), 'erasures')
    service = await prepareService({ ERASURE_JOURNAL: journal, BACKUP_RETENTION_DAYS: '35' })
    const [api] = await Promise.all([service.startApi(), service.startWorker()])
    partner = await sandboxPartner(service, api.port)
    context = await contextOf(service.environment)
    lead = await createLead()
    await partner.endpoint.until(({ length }) => length === 1)
    // what it answers to the next is still waited for when the lead is erased
    partner.endpoint.answer = (_, response) => void response.writeHead(500).end(canary('Answer'))
    await partner.simulate(lead, { event_name: 'contract_signed' })
    await partner.simulate(lead, { event_name: 'escrow_funded' })
    await until(async () => (await rowsWith(canary('Answer'))).length > 0)
    // transactions in the server's other databases hold events back for a moment
    eventIds = await until(async () => {
      const ids = await eventsOf()
      return ids.length === 3 && ids
    })
  }, 60_000)

  async function createLead(): Promise<number> {
    const { lead_id: leadId } = await partner.post('create-lead', LEAD, { 'idempotency-key': canary('Key') })
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
  const sealedOf = () =>
    service.sql
      .selectFrom('leads')
      .select(['personal', 'email_hash', 'notes', 'metadata'])
      .where('id', '=', lead)
      .executeTakeFirst()

  const eventsOf = async () => {
    const { data } = (await partner.post('list-events', {})) as unknown as {
      data: { lead_id: number; event_id: string }[]
    }
    return data.filter(({ lead_id: id }) => id === lead).map(({ event_id: id }) => id)
  }
  const erased = () =>
    until(async () => {
      const [latest] = await erasuresOf(service.sql, lead)
      return latest?.checked_at ? latest : undefined
    })
  const handle = (prefix = 'lead') => service.client.workflow.getHandle(`${prefix}-${lead}`)

  it('is not found by any call, and nothing of it is left in any table', async () => {
    expect((await rowsWith(`canary${mark}`)).toSorted()).toEqual(['attempts', 'idempotency_keys', 'leads'])
    expect(await sealedOf()).toMatchObject({
      personal: expect.any(String),
      email_hash: expect.any(String),
      notes: expect.any(String),
    })
    const requested = await partner.post('erase-lead', { lead_id: lead, reason: 'borrower_request' })
    expect(requested).toMatchObject({
      status: 200,
      data: { lead_id: lead, requested_at: expect.any(String), due_at: expect.any(String) },
    })
    await erased()
    expect(await rowsWith(`canary${mark}`)).toEqual([])
    expect(await sealedOf()).toEqual({ personal: null, email_hash: null, notes: null, metadata: {} })

    const unknown = await partner.post('get-lead', { lead_id: 999_999 })
    const calls: [string, object][] = [
      ['get-lead', {}],
      ['get-events', {}],
      ['get-deliveries', {}],
      ['update-partner-info', { branch: 'Austin' }],
      ['update-partner-info', {}],
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

  it('keeps its ids and milestones, and is not listed', async () => {
    expect(eventIds).toHaveLength(3)
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

  it('has no workflow any more, and none is started', async () => {
    expect(await handle().result()).toBe('erased')
    expect(await handle('erasure').result()).toBe('erased')
    const { length } = partner.endpoint.arrivals
    await service.referrals.signal(lead, 'mortgage_ready')
    await handle().result()
    expect(await eventsOf()).toEqual(eventIds)
    expect(partner.endpoint.arrivals).toHaveLength(length)
  })

  it('has a certificate that says what was erased, how that was checked, and until when backups have it', async () => {
    const { certificate, erased_at: at } = await erased()
    expect(certificate).toMatchObject({
      rows: { leads: 1, idempotency_keys: 1, deliveries: 2 },
      checked: { left: { leads: 0, idempotency_keys: 0, onboarding_mails: 0, deliveries: 0, attempts: 0 } },
      backups: { retention_days: 35 },
    })
    const last = new Date(certificate?.backups.until ?? '')
    expect(Math.round((last.getTime() - (at?.getTime() ?? 0)) / 86_400_000)).toBe(35)
    const { text } = await erasures.showErasure(context, lead)
    expect(text).toMatch(/reason +borrower_request/)
    expect(text).toMatch(/requested by +key \d+/)
    expect(text).toContain(`the line with SHA-256 ${certificate?.journal?.sha256}`)
    expect(text).not.toContain(mark)
  })

  it('is an intent and its end in the journal, with ids only', async () => {
    const [file, ...others] = readdirSync(journal)
    expect(others).toEqual([])
    const lines = readFileSync(path.join(journal, file ?? ''), 'utf8')
      .trimEnd()
      .split('\n')
    const ids = {
      intent: expect.any(String),
      deployment: await context.deployment(),
      lead_id: lead,
      event_id: eventIds[0],
      at: expect.any(String),
    }
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      { step: 'intent', ...ids },
      { step: 'erased', ...ids },
    ])
  })

  it('is shown to staff as erased, and nothing is done to it', async () => {
    const record = await requireLead(context.sql, lead, { evenErased: true })
    expect((await showLead(context, record)).text).toMatch(/erased by +service/)
    const refusal = /^Lead \d+ was erased at .* UTC by service: see "erasure show \d+"\.$/
    await expect(close(context, lead, { reason: 'other' })).rejects.toThrow(refusal)
    await expect(milestone(context, lead, 'mortgage_ready')).rejects.toThrow(refusal)
    await expect(erase(context, lead, { reason: 'other' })).rejects.toThrow(refusal)
    await expect(resend(context, eventIds[0] ?? '')).rejects.toThrow('There is no delivery')
  })

  it('is in the audit', async () => {
    const audit = (await auditOf(context)).filter(({ lead_id: id }) => id === lead)
    expect(audit.map(({ actor, action }) => [actor, action])).toEqual([
      [expect.stringMatching(/^key \d+$/), 'lead.request_erasure'],
      ['service', 'lead.erase'],
    ])
  })
})
