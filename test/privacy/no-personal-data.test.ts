import { randomBytes, randomInt } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { prepareApi } from '../support/api.ts'
import { failsUpdates } from '../support/failing-updates.ts'
import { leadsOf } from '../support/leads.ts'
import { scrape } from '../support/scrape.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

const mark = randomBytes(5).toString('hex')
/** What a field holds in this file, and nothing else anywhere. */
const canary = (field: string) => `canary${mark}${field}`
const LEAD = {
  first_name: canary('First'),
  last_name: canary('Last'),
  email: `${canary('mail')}@example.com`,
  phone: `+1 ${randomInt(10 ** 12)} 4711`,
  partner_lead_id: canary('LeadId'),
  fico_range: '501-507',
  loan_officer_id: canary('Officer'),
  notes: `${canary('Notes')} lost his job`,
}
const METADATA = { branch: canary('Metadata'), loan_product: 'FHA' }
const PERSONAL = [LEAD.first_name, LEAD.last_name, LEAD.email, LEAD.phone, LEAD.notes, METADATA.branch]
const found = (text: string, more: string[] = []) =>
  [`canary${mark}`, LEAD.phone, LEAD.fico_range, ...more].filter((secret) => text.includes(secret))

describe('of a lead whose requests fail in every way, the API', () => {
  let api: Awaited<ReturnType<typeof prepareApi>>
  let answers: { status: number; text: string }[]
  let key: string

  beforeAll(async () => {
    api = await prepareApi()
    const partner = await api.addPartner()
    ;({ key } = partner)
    const lead_id = await partner.createLead(LEAD)
    await partner.post('update-partner-info', { lead_id, ...METADATA })
    const idempotent = { 'idempotency-key': canary('IdempotencyKey') }
    await partner.post('create-lead', LEAD, idempotent)
    await failsUpdates(api.sql, lead_id)
    answers = [
      await partner.post('create-lead', { ...LEAD, last_name: canary('Other') }, idempotent),
      await partner.post('create-lead', {
        ...LEAD,
        email: canary('NoAddress'),
        first_name: `\0${canary('Control')}`,
      }),
      await partner.post('update-partner-info', { lead_id, property_state: canary('State') }),
      // a driver's error brings the row along
      await partner.post('update-partner-info', { lead_id, branch: canary('Branch') }),
      await api.post('get-lead', { lead_id }, { authorization: `Service-Key ${canary('Key')}` }),
      await api.post(`no-such-path?token=${canary('Query')}`, {}),
    ]
  })

  it('answers nothing of what was sent', () => {
    expect(answers.map(({ status }) => status)).toEqual([422, 400, 400, 500, 401, 404])
    for (const { text } of answers) expect(found(text)).toEqual([])
  })

  it('logs nothing of it', () => {
    const log = api.logged.join('\n')
    expect(log).toContain('no_updates')
    expect(found(log)).toEqual([])
  })

  it('stores name, email address, phone number, notes and metadata encrypted, and of the key a hash', async () => {
    const { rows: tables } = await raw<{ name: string }>`
      select tablename::text as name from pg_tables where schemaname = current_schema()`.execute(api.sql)
    let dump = ''
    for (const { name } of tables) {
      const { rows } = await raw`select t::text as row from ${raw.table(name)} t`.execute(api.sql)
      dump += JSON.stringify(rows)
    }
    expect(dump).toContain(LEAD.partner_lead_id)
    expect([...PERSONAL, key].filter((value) => dump.includes(value))).toEqual([])
  })
})

describe('after a journey whose endpoint and database fail on the way', () => {
  let service: SharedService
  let partner: TestPartner
  let leadId: number
  /** What Temporal showed of the workflow while the database refused. */
  let failing: string
  const leads = () => leadsOf(service, partner)
  const handle = () => service.client.workflow.getHandle(`lead-${leadId}`)

  beforeAll(async () => {
    service = await sharedService()
    partner = await service.addPartner()
    partner.endpoint.answer = (_, response) => {
      const isFirst = partner.endpoint.arrivals.length === 1
      response.writeHead(isFirst ? 503 : 200).end(canary('ResponseBody'))
    }
    const { createLead, post } = partnerCalls(service.port, partner.key)
    leadId = await createLead(LEAD)
    await post('update-partner-info', { lead_id: leadId, ...METADATA })
    await service.referrals.signal(leadId, 'client_engaged_in_chat', { id: `typed-${mark}` })
    await service.referrals.signal(leadId, 'escrow_funded')
    await service.referrals.signal(leadId, 'score_update')
    await partner.endpoint.until(() => leads().arrivals(leadId).at(-1)?.event.type === 'score_update')
    const heal = await failsUpdates(service.sql, leadId)
    await service.referrals.signal(leadId, 'mortgage_ready')
    failing = await until(async () => {
      const shown = textOf((await handle().describe()).raw)
      return shown.includes(`no_updates_of_${leadId}`) && shown
    })
    await heal()
    await partner.endpoint.until(() => leads().arrivals(leadId).at(-1)?.event.type === 'mortgage_ready')
  }, 120_000)

  const output = async () => (await fetch(service.outputUrl)).text()
  const secrets = () => [partner.key, partner.endpoint.secret, partner.endpoint.url, canary('ResponseBody')]

  it('Temporal holds none of it in history, memo and search attributes, and no gain that the service got itself', async () => {
    const kept = textOf([await handle().fetchHistory(), (await handle().describe()).raw, failing])
    // it would show: that is what a sender typed
    expect(kept).toContain(`typed-${mark}`)
    expect(found(kept, [...secrets(), 'experian_gain'])).toEqual([])
  })

  it('neither process has logged any of it', async () => {
    const log = await output()
    expect(log).toContain(`no_updates_of_${leadId}`)
    expect(found(log, secrets())).toEqual([])
  })

  it('no metric holds any of it', async () => {
    for (const metricsPort of service.metricsPorts)
      expect(found((await scrape({ metricsPort })).text, secrets())).toEqual([])
  })

  it('no webhook holds name, email address, phone number, notes or metadata', () => {
    const bodies = partner.endpoint.arrivals.map(({ body }) => body).join('\n')
    expect(bodies).toContain(LEAD.partner_lead_id)
    expect(PERSONAL.filter((value) => bodies.includes(value))).toEqual([])
  })
})

/** All texts in a message of Temporal's, with those in its payloads. */
function textOf(message: unknown): string {
  if (typeof message === 'string') return message
  if (message instanceof Uint8Array) return Buffer.from(message).toString('latin1')
  if (typeof message !== 'object' || message === null) return ''
  return Object.values(message).map(textOf).join('\n')
}
