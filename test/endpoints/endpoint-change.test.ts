import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { certificationChecks, judgeCheck } from '../../src/endpoints/certification-checks.ts'
import {
  beginCertification,
  runningCertification,
  writeReport,
} from '../../src/endpoints/certify-endpoint.ts'
import { lockEndpoint } from '../../src/endpoints/endpoint.ts'
import { oweNotice } from '../../src/endpoints/notices.ts'
import { setCandidate } from '../../src/endpoints/set-endpoint.ts'
import { rotate, set } from '../../src/endpoints/staff.ts'
import { sealing } from '../../src/seal.ts'
import { generateSecret } from '../../src/webhooks/signature.ts'
import { auditOf, contextOf } from '../staff/context.ts'
import { endpointOf, putEndpoints } from '../support/endpoint-states.ts'
import { startMailServer } from '../support/mail-server.ts'
import { productionSettings } from '../support/production.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

const URL_NEXT = 'https://lender.example/next?token=not-for-mails'

describe('a change of an endpoint in production', () => {
  let service: Service
  let partner: TestPartner
  let mails: Awaited<ReturnType<typeof startMailServer>>
  let endpoint: ReturnType<typeof endpointOf>
  let context: Awaited<ReturnType<typeof contextOf>>
  let contact: string

  beforeAll(async () => {
    mails = await startMailServer()
    service = await prepareService(productionSettings({ SMTP_URL: mails.url }))
    context = await contextOf(service.environment)
    await context.deployment()
    await service.startWorker()
  }, 60_000)

  beforeEach(async () => {
    partner = await service.addPartner()
    endpoint = endpointOf(service, partner)
    contact = `tech-${partner.id}@lender.example`
    const own = service.sql.updateTable('partners').where('id', '=', partner.id)
    await own.set({ contact_email: contact }).execute()
  })

  const propose = async () => {
    const secret = sealing(generateSecret(), service.encryptionKeys)
    return setCandidate(service.sql, partner.id, URL_NEXT, secret)
  }
  const certified = async () => {
    await propose()
    const asked = { acceptFailures: false, requestedBy: 'key 7' }
    const locked = await lockEndpoint(service.sql, partner.id)
    await beginCertification(service.sql, locked, asked)
    const running = (await runningCertification(service.sql, partner.id, service.encryptionKeys))!
    for (const check of certificationChecks) {
      const ok = ['valid', 'repeated', 'unknown_type'].includes(check)
      const outcome = { ok, status: ok ? 200 : 400, durationMs: 5, hint: null }
      await writeReport(service.sql, running, judgeCheck(check, outcome, 'passed'))
    }
  }
  const mailsAbout = () =>
    mails.mails.filter(
      ({ content }) =>
        content.includes(`tech-${partner.id}@`) || content.includes(`Partner ${partner.id} is told`),
    )
  const told = async (what: string) => {
    await until(async () => mailsAbout().length === 2)
    expect(mailsAbout().map(({ to }) => to)).toEqual([contact, 'staff@service.example'])
    for (const { content } of mailsAbout()) {
      expect(content).toContain(what)
      expect(content).not.toMatch(/not-for-mails|whsec_/)
    }
  }

  it('takes effect once the URL is certified, with its secret, and partner and staff are told once', async () => {
    await certified()
    expect(await endpoint.row()).toMatchObject({ url: URL_NEXT, certification: { state: 'passed' } })
    const secrets = service.sql.selectFrom('endpoint_secrets').select('expires_at').orderBy('id')
    const [old, current] = await secrets.where('partner_id', '=', partner.id).execute()
    expect(old?.expires_at?.getTime()).toBeLessThanOrEqual(Date.now())
    expect(current?.expires_at).toBeNull()
    await context.startEndpoint(partner.id)
    await told('https://lender.example')
    const audit = (await auditOf(context)).filter(({ partner_id: of }) => of === partner.id)
    expect(audit.map(({ actor, action }) => [actor, action])).toEqual([
      ['key 7', 'endpoint.certification_ended'],
    ])
  })

  it('by staff is mailed once, too, and drops a candidate', async () => {
    await propose()
    await set(context, partner.id, 'https://lender.example/by-staff')
    expect(await endpoint.row()).toMatchObject({ candidate: null, candidate_url: null })
    await told('Webhooks now go to the endpoint at https://lender.example')
  })

  it('of the secret is mailed', async () => {
    const { json } = await rotate(context, partner.id, { overlap: 0 })
    expect(json.secret).toMatch(/^whsec_/)
    await told('are now signed with a new secret')
  })

  it('is mailed, and a paused endpoint is probed, while another email is being sent', async () => {
    const taken = Promise.withResolvers<void>()
    mails.answering = taken.promise
    const kinds = () =>
      mails.mails
        .filter(({ to }) => to === contact)
        .map(({ content }) => /^Subject: .*(failing|paused|changed):/m.exec(content)?.[1])
    await service.sql.transaction().execute((trx) => oweNotice(trx, partner.id, 'failing'))
    await context.startEndpoint(partner.id)
    await until(async () => kinds().length === 1)
    await putEndpoints(service.sql, 'paused', { partnerId: partner.id, by: 'service' })
    const due = service.sql.updateTable('endpoints').where('partner_id', '=', partner.id)
    await due.set({ next_probe_at: new Date(0) }).execute()
    await service.sql.transaction().execute((trx) => oweNotice(trx, partner.id, 'paused'))
    await context.startEndpoint(partner.id)
    await until(async () => Number((await endpoint.row()).next_probe_at) > Date.now())
    taken.resolve()
    await until(async () => kinds().length === 2)
    expect(kinds()).toEqual(['failing', 'paused'])
  })
})
