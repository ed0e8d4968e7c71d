import { beforeAll, describe, expect, it } from '@jest/globals'
import { endpointOf } from '../support/endpoint-states.ts'
import { leadsOf } from '../support/leads.ts'
import { type ReceivedMail, startMailServer } from '../support/mail-server.ts'
import type { Arrival } from '../support/partner-endpoint.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

const LEADS = 20
const CONTACT = 'tech@lender.example'
const STAFF = 'staff@service.example'

describe('an endpoint that is away for ten days, with 20 leads living on', () => {
  let service: Service
  let partner: TestPartner
  let mailServer: Awaited<ReturnType<typeof startMailServer>>
  let leads: ReturnType<typeof leadsOf>
  let endpoint: ReturnType<typeof endpointOf>
  let leadIds: number[]
  const taken: Arrival[] = []

  beforeAll(async () => {
    mailServer = await startMailServer()
    service = await prepareService({ SMTP_URL: mailServer.url, SMTP_CATCHER: 'true', STAFF_EMAIL: STAFF })
    partner = await service.addPartner()
    await service.sql.updateTable('partners').set({ contact_email: CONTACT }).execute()
    leads = leadsOf(service, partner)
    endpoint = endpointOf(service, partner)
    refuse()
    leadIds = await Promise.all(Array.from({ length: LEADS }, () => leads.start()))
    await service.startWorker()
  }, 60_000)

  function refuse() {
    partner.endpoint.answer = (_, response) => void response.writeHead(500).end('down')
  }
  function accept() {
    partner.endpoint.answer = (arrival, response) => {
      taken.push(arrival)
      response.writeHead(200).end()
    }
  }
  const signalAll = (name: string) =>
    Promise.all(leadIds.map((leadId) => service.referrals.signal(leadId, name)))
  const mails = (to: string, subject: string): ReceivedMail[] =>
    mailServer.mails.filter((mail) => mail.to === to && mail.content.includes(`Subject: ${subject}`))
  const mailed = (subject: string) =>
    until(async () => mails(CONTACT, subject).length > 0 && mails(STAFF, subject).length > 0)
  const failures = async () =>
    (await service.sql.selectFrom('deliveries').select('failures').execute()).map((row) => row.failures)

  it('tells partner and staff at the fourth failure in a row', async () => {
    while (!(await failures()).some((count) => count >= 4)) {
      const { length: before } = partner.endpoint.arrivals
      await endpoint.makeDue()
      await signalAll('wake')
      await partner.endpoint.until((arrivals) => arrivals.length >= before + LEADS / 2)
    }
    await mailed('Webhook endpoint is failing')
    const [mail] = mails(CONTACT, 'Webhook endpoint is failing')
    expect(mail?.content).toMatch(/your endpoint answered 500/)
    expect(mail?.content).toMatch(/What to do/)
    expect(mail?.content).toMatch(/evt_[0-9a-f-]+ \(lead_received of lead \d+\)/)
  })

  it('pauses it after 72 hours without one success, and tells both', async () => {
    await endpoint.age('3 days')
    await endpoint.makeDue()
    await signalAll('wake')
    await endpoint.is('paused')
    expect(await endpoint.row()).toMatchObject({ state: 'paused', reason: 'failing' })
    await mailed('Webhook endpoint is paused')
    expect(mails(CONTACT, 'Webhook endpoint is paused')[0]?.content).toMatch(
      /it accepted no webhook for 72 hours/,
    )
  })

  it('records what happens meanwhile and sends none of it', async () => {
    const before = partner.endpoint.arrivals.length
    await signalAll('contract_signed')
    await signalAll('escrow_funded')
    await Promise.all(leadIds.map((leadId) => leads.recorded(leadId, 'escrow_funded')))
    await endpoint.age('10 days')
    expect(await endpoint.open()).toBe(3 * LEADS)
    expect(partner.endpoint.arrivals).toHaveLength(before)
  })

  it('probes it with the oldest webhook, and goes on waiting when that fails', async () => {
    const workflow = await endpoint.workflow()
    await workflow.signal('probe')
    const [probe] = await until(async () => {
      const probes = await endpoint.probes()
      return probes.length > 0 && probes
    })
    expect(probe).toMatchObject({ status: 500, sequence: 1 })
    expect((await endpoint.row()).state).toBe('paused')
    expect(await endpoint.open()).toBe(3 * LEADS)
  })

  it('sends everything in order once a probe is taken, with new events coming in', async () => {
    accept()
    await (await endpoint.workflow()).signal('probe')
    await endpoint.is('draining')
    await signalAll('mortgage_ready')
    await endpoint.is('active')
    await until(async () => (await endpoint.open()) === 0)
    for (const leadId of leadIds) {
      const sequences = taken
        .filter(({ event }) => event.data.lead_id === leadId)
        .map(({ event }) => event.data.sequence)
      expect(sequences).toEqual([1, 2, 3, 4])
    }
    expect(taken).toHaveLength(4 * LEADS)
    expect(taken.every(({ verified }) => verified)).toBe(true)
  })

  it('tells both that it has recovered, and each kind of mail once', async () => {
    await mailed('Webhook endpoint works again')
    await (await endpoint.workflow()).result()
    const subjects = mailServer.mails
      .filter(({ to }) => to === CONTACT)
      .map(({ content }) => /^Subject: (.*?):/m.exec(content)?.[1])
    expect(subjects).toEqual([
      'Webhook endpoint is failing',
      'Webhook endpoint is paused',
      'Webhook endpoint works again',
    ])
  })
})
