import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { rotate, selfService, set } from '../../src/endpoints/staff.ts'
import { certificationChecks, judgeCheck } from '../../src/endpoints/certification-checks.ts'
import { beginCertification, endCertification, writeReports } from '../../src/endpoints/certify-endpoint.ts'
import { generateSecret } from '../../src/webhooks/signature.ts'
import { lockEndpoint, setCandidate } from '../../src/endpoints/switch-endpoint.ts'
import { sealing } from '../../src/seal.ts'
import { auditOf, contextOf } from '../staff/context.ts'
import { endpointOf } from '../support/endpoint-states.ts'
import { startMailServer } from '../support/mail-server.ts'
import { productionSettings } from '../support/production.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

const URL_NEXT = 'https://lender.example/next?token=not-for-mails'
const ACCEPTED = {
  status: 200,
  responseHeaders: null,
  responseBody: null,
  retryAfter: null,
  address: null,
  durationMs: 5,
  errorCode: null,
  hint: null,
}

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
    await service.sql
      .updateTable('partners')
      .set({ contact_email: contact, self_service: true })
      .where('id', '=', partner.id)
      .execute()
  })

  const propose = async () => {
    const secret = sealing(generateSecret(), service.encryptionKeys)
    return setCandidate(service.sql, (await endpoint.row()).id, { url: URL_NEXT, secret })
  }
  const certified = async () => {
    const candidate = await propose()
    const begun = await beginCertification(service.sql, (await lockEndpoint(service.sql, partner.id))!)
    const which = { partnerId: partner.id, candidate, requestedAt: begun!.certification.requestedAt }
    const reports = certificationChecks.map((check) => {
      const refused = ['forged_signature', 'old_timestamp', 'changed_body'].includes(check)
      const outcome = { ...ACCEPTED, ok: !refused, status: refused ? 400 : 200 }
      return judgeCheck(check, outcome, { valid: 'passed' })
    })
    await writeReports(service.sql, which, reports)
    return endCertification(service.sql, { ...which, acceptFailures: false, requestedBy: 'key 7' })
  }
  const mailsAbout = () =>
    mails.mails.filter(
      ({ content }) => content.includes(`tech-${partner.id}@`) || content.includes(`Partner ${partner.id},`),
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
    const { id } = await endpoint.row()
    expect(await certified()).toEqual({ result: 'passed', switched: id })
    expect((await endpoint.row()).url).toBe(URL_NEXT)
    const [old, current] = await service.sql
      .selectFrom('endpoint_secrets')
      .select('expires_at')
      .where('endpoint_id', '=', id)
      .orderBy('id')
      .execute()
    expect(old?.expires_at?.getTime()).toBeLessThanOrEqual(Date.now())
    expect(current?.expires_at).toBeNull()
    await context.startEndpoint(id)
    await told('https://lender.example')
    const audit = (await auditOf(context)).filter(({ partner_id: of }) => of === partner.id)
    expect(audit.map(({ actor, action }) => [actor, action])).toEqual([
      ['key 7', 'endpoint.certification_ended'],
    ])
  })

  it('by staff is told once, too, and drops a candidate', async () => {
    await propose()
    await set(context, partner.id, 'https://lender.example/by-staff')
    expect(await endpoint.row()).toMatchObject({ candidate: null, candidate_url: null })
    await told('Webhooks now go to the endpoint at https://lender.example')
  })

  it('back to the previous URL is told once, too', async () => {
    const { url } = await endpoint.row()
    await certified()
    await service.sql.deleteFrom('notices').where('partner_id', '=', partner.id).execute()
    expect((await set(context, partner.id, undefined, { previous: true })).json.url).toBe(url)
    await told(`Webhooks now go to the endpoint at ${new URL(url!).origin}`)
  })

  it('of the secret is told', async () => {
    const { json } = await rotate(context, partner.id, { overlap: 0 })
    expect(json.secret).toMatch(/^whsec_/)
    await told('are now signed with a new secret')
  })

  it('is canceled before it is certified when staff turn self-service off', async () => {
    await propose()
    const answer = await selfService(context, partner.id, 'off')
    expect(answer.json).toEqual({ partner_id: partner.id, self_service: false, canceled: true })
    expect((await endpoint.row()).candidate).toBeNull()
  })

  it('needs a contact before staff turn self-service on', async () => {
    await service.sql
      .updateTable('partners')
      .set({ contact_email: null, self_service: false })
      .where('id', '=', partner.id)
      .execute()
    await expect(selfService(context, partner.id, 'on')).rejects.toThrow('has no contact')
  })
})
