import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { certificationChecks } from '../src/capabilities/self-service/decisions/certification.ts'
import { startMailServer } from './support/mail-server.ts'
import { ownTemporal } from './support/own-temporal.ts'
import { startPartnerEndpoint } from './support/partner-endpoint.ts'
import type { ServiceProcess } from './support/processes.ts'
import { prepareService, type Service, type TestPartner } from './support/service.ts'
import { until } from './support/until.ts'

const mark = randomBytes(5).toString('hex')
/** What a borrower's or partner's field holds in this test, and nothing else anywhere. */
const canary = (field: string) => `canary${mark}${field}`
const LEAD = {
  first_name: canary('First'),
  last_name: canary('Last'),
  email: `${canary('mail')}@example.com`,
  phone: `+1 ${randomBytes(6).readUIntBE(0, 6)} 4711`,
  partner_lead_id: canary('LeadId'),
  fico_range: '501-507',
  loan_officer_id: canary('Officer'),
  notes: `${canary('Notes')} lost his job`,
}
const REFUSED = { ...LEAD, email: `${canary('refused')}@example.com` }

/** What Temporal keeps of a signal is what its sender typed: these show that the search would find it. */
const SIGNAL_IDS = [`typed-${mark}-1`, `typed-${mark}-2`]

describe('after a whole journey with every kind of failure in it', () => {
  let service: Service
  let partner: TestPartner
  let temporal: Awaited<ReturnType<typeof ownTemporal>>
  let mail: Awaited<ReturnType<typeof startMailServer>>
  let processes: ServiceProcess[]
  let leadId: number
  let newSecret: string
  const failures: { status: number; text: string }[] = []
  const kept: Record<string, Buffer> = {}

  beforeAll(async () => {
    temporal = await ownTemporal()
    mail = await startMailServer()
    service = await prepareService({
      TEMPORAL_ADDRESS: temporal.address,
      SMTP_URL: mail.url.replace('//', `//mailer:${canary('SmtpPassword')}@`),
      SMTP_CATCHER: 'true',
      LOG_LEVEL: 'trace',
    })
    partner = await service.addPartner()
    processes = await Promise.all([service.startApi(), service.startWorker()])
    await breakLeads('not_mailed', 'onboarding_sent_at is null')
    await createLeads()
    await failADelivery()
    await failToNoteAMail()
    await reachMilestones()
    await failInTheDatabase()
    await failToAuthenticate()
    await changeEndpoint()
    await Promise.all(processes.map((each) => each.stop()))
    await temporal.kill()
    for (const file of temporal.dataFiles()) kept[file] = readFileSync(file)
  }, 120_000)

  async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(`http://127.0.0.1:${processes[0]?.port}/v1/${path}`, {
      method: 'POST',
      headers: {
        authorization: `Service-Key ${partner.key}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (response.status !== 200) failures.push({ status: response.status, text })
    const answer: { lead_id: number } = JSON.parse(text)
    return answer
  }

  async function createLeads(): Promise<void> {
    partner.endpoint.answer = (_, response) => void response.writeHead(503).end(canary('ResponseBody'))
    const idempotent = { 'idempotency-key': canary('IdempotencyKey') }
    leadId = (await post('create-lead', LEAD, idempotent)).lead_id
    await until(async () => mail.mails.length > 0)
    mail.refusing = true
    await post('create-lead', REFUSED)
    await until(async () => mail.refused.length > 0)
    await post('create-lead', REFUSED, idempotent)
    await post('update-partner-info', { lead_id: leadId, branch: canary('Metadata'), loan_product: 'FHA' })
    await post('update-partner-info', { lead_id: leadId, property_state: canary('State') })
    await post('create-lead', { ...LEAD, email: canary('NoAddress'), first_name: `\0${canary('Control')}` })
  }

  /** The second attempt, five seconds later, gets through. */
  async function failADelivery(): Promise<void> {
    await partner.endpoint.until(({ length }) => length >= 2)
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end(canary('ResponseBody'))
  }

  /** It was sent, and that could not be noted: the activity that sends it again fails with the error. */
  async function failToNoteAMail(): Promise<void> {
    mail.refusing = false
    await until(async () => {
      await service.sql
        .updateTable('onboarding_mails')
        .set({ sending_until: raw<Date>`clock_timestamp()` })
        .where('sending_until', 'is not', null)
        .execute()
      return processes[1]?.output().includes('not_mailed')
    })
  }

  const arrived = (name: string) =>
    partner.endpoint.until((arrivals) =>
      arrivals.some(({ event }) => event.type === name && event.data.lead_id === leadId),
    )

  async function reachMilestones(): Promise<void> {
    for (const id of SIGNAL_IDS) await service.referrals.signal(leadId, 'client_engaged_in_chat', { id })
    await service.referrals.signal(leadId, 'escrow_funded')
    await service.referrals.signal(leadId, 'score_update')
    await arrived('score_update')
  }

  async function failInTheDatabase(): Promise<void> {
    await breakLeads('broken', 'notes is null')
    await post('create-lead', LEAD)
    await service.referrals.signal(leadId, 'mortgage_ready')
    await until(async () => processes[1]?.output().includes('broken'))
    await raw`alter table leads drop constraint broken`.execute(service.sql)
    await arrived('mortgage_ready')
  }

  /** A driver's error brings the row along: from then on there is one in the API, or in the worker. */
  async function breakLeads(name: string, condition: string): Promise<void> {
    const constraint = raw.raw(`${name} check (${condition}) not valid`)
    await raw`alter table leads add constraint ${constraint}`.execute(service.sql)
  }

  async function failToAuthenticate(): Promise<void> {
    await post('get-lead', { lead_id: leadId }, { authorization: `Service-Key ${canary('Key')}` })
    await post('get-lead', { lead_id: leadId }, { authorization: `Bearer ${partner.key}` })
    await post(`no-such-path?token=${canary('Query')}`, {})
  }

  /** The URL's query is a password: where the new endpoint is, only PostgreSQL knows. */
  async function changeEndpoint(): Promise<void> {
    await post('set-endpoint', { url: `https://user:${canary('UrlPassword')}@lender.example/` })
    const next = await startPartnerEndpoint()
    next.answer = (_, response) => void response.writeHead(500).end(canary('ResponseBody'))
    const set = (await post('set-endpoint', { url: `${next.url}?token=${canary('Token')}` })) as object
    newSecret = (set as { data: { secret: string } }).data.secret
    await post('certify-endpoint', { accept_failures: true })
    await next.until(({ length }) => length === certificationChecks.length)
    const changes = service.sql.selectFrom('endpoint_changes').select('state')
    await until(async () => (await changes.execute()).every(({ state }) => state === 'applied'))
    await post('test-endpoint', {})
    const pings = service.sql.selectFrom('endpoint_pings').select('outcome')
    await until(async () => (await pings.execute()).every(({ outcome }) => outcome !== null))
  }

  /** Whatever must stay where it was given. */
  const secrets = (): Record<string, string> => ({
    'a canary': `canary${mark}`,
    'the phone number': LEAD.phone,
    'the FICO range': LEAD.fico_range,
    'the API key': partner.key,
    'the endpoint’s secret': partner.endpoint.secret,
    'the endpoint’s address': partner.endpoint.url,
    'the new endpoint’s secret': newSecret,
    'the encryption key': service.environment.ENCRYPTION_KEY,
    'the database’s password': new URL(service.environment.DATABASE_URL).password || 'no password',
  })
  const found = (bytes: Buffer | string) =>
    Object.entries(secrets()).flatMap(([what, secret]) => (bytes.includes(secret) ? what : []))

  const isKept = (needle: string) => Object.values(kept).some((bytes) => bytes.includes(needle))

  it('everything happened that could have given something away', async () => {
    expect(failures.map(({ status }) => status)).toEqual([422, 400, 400, 500, 401, 401, 404, 400])
    expect(mail.mails[0]?.content).toContain(LEAD.first_name)
    expect(mail.refused).toContain(REFUSED.email)
    const attempts = await service.sql.selectFrom('attempts').select(['status', 'response_body']).execute()
    expect(attempts).toContainEqual({ status: 503, response_body: canary('ResponseBody') })
    for (const { output } of processes) await until(async () => output().includes('broken'))
    expect(isKept('not_mailed')).toBe(true)
    expect(isKept('endpoint-ping-1')).toBe(true)
  })

  it('no error answer holds a value that was sent, nor a secret', () => {
    for (const { text } of failures) expect(found(text)).toEqual([])
  })

  it('no process has written any of it to its output', () => {
    expect(processes.map(({ output }) => found(output()))).toEqual([[], []])
  })

  it('Temporal’s files hold none of it, and no score gain that the service got itself', () => {
    for (const [file, bytes] of Object.entries(kept)) expect([file, found(bytes)]).toEqual([file, []])
    for (const bytes of Object.values(kept)) expect(bytes.includes('experian_gain')).toBe(false)
  })

  it('Temporal’s files would show it: they hold the workflow’s id and what senders typed', () => {
    expect([`lead-${leadId}`, ...SIGNAL_IDS].map(isKept)).toEqual([true, true, true])
  })

  it('the audit holds none of it, only where an endpoint is', async () => {
    const rows = JSON.stringify(await service.sql.selectFrom('audit').selectAll().execute())
    expect(rows).toContain('endpoint.change_applied')
    expect(found(rows)).toEqual([])
  })

  it('the database holds the borrower’s name, email address, phone number, notes and metadata encrypted', async () => {
    const { rows: tables } = await raw<{ name: string }>`
      select tablename::text as name from pg_tables where schemaname = current_schema()`.execute(service.sql)
    const personal = [LEAD.first_name, LEAD.last_name, LEAD.email, LEAD.phone, LEAD.notes, canary('Metadata')]
    let dump = ''
    for (const { name } of tables) {
      const { rows } = await raw`select t::text as row from ${raw.table(name)} t`.execute(service.sql)
      dump += JSON.stringify(rows)
    }
    expect(dump).toContain(LEAD.partner_lead_id)
    expect(personal.filter((value) => dump.includes(value))).toEqual([])
  })

  it('no webhook holds the borrower’s name, email address, phone number or notes', () => {
    const personal = [LEAD.first_name, LEAD.last_name, LEAD.email, LEAD.phone, LEAD.notes]
    const bodies = partner.endpoint.arrivals.map(({ body }) => body).join('\n')
    expect(bodies).toContain(LEAD.partner_lead_id)
    expect(personal.filter((value) => bodies.includes(value))).toEqual([])
  })
})
