import path from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import {
  endCertification,
  requestCertification,
} from '../../src/capabilities/self-service/statements/certifications.ts'
import { openChange } from '../../src/core/endpoints/statements/changes.ts'
import { set } from '../../src/core/endpoints/commands/endpoint.ts'
import { cancelChange } from '../../src/capabilities/self-service/commands/cancel-change.ts'
import { selfService } from '../../src/capabilities/self-service/commands/self-service.ts'
import {
  certificationChecks,
  judgeCheck,
} from '../../src/capabilities/self-service/decisions/certification.ts'
import { jsonb } from '../../src/core/database/jsonb.ts'
import { createEndpointRequests } from '../../src/capabilities/self-service/workflows/endpoint-requests.ts'
import { sealing } from '../../src/core/sealing/seal.ts'
import { generateSecret } from '../../src/core/deliveries/webhooks/secrets.ts'
import { auditOf, contextOf } from '../staff/context.ts'
import { endpointOf } from '../support/endpoint-states.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startMailServer } from '../support/mail-server.ts'
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

/** In production, where a change is announced first. */
describe('a change that a partner asked for in production', () => {
  let service: Service
  let partner: TestPartner
  let mails: Awaited<ReturnType<typeof startMailServer>>
  let endpoint: ReturnType<typeof endpointOf>
  let context: Awaited<ReturnType<typeof contextOf>>
  let contact: string
  let secret: string

  beforeAll(async () => {
    mails = await startMailServer()
    service = await prepareService({
      ENVIRONMENT: 'production',
      WEBHOOK_ALLOW_PRIVATE_NETWORK: '',
      ALLOW_PLAINTEXT: 'smtp,score_provider,database',
      SMTP_URL: mails.url,
      MAIL_FROM: 'us@example.com',
      MAIL_REPLY_TO: 'help@example.com',
      MAIL_FOOTER: 'Example Inc., 1 Main Street',
      STAFF_EMAIL: 'staff@service.example',
      SCORE_PROVIDER_URL: 'http://127.0.0.1:1',
      ERASURE_LOG: path.join(temporaryFolder(), 'erasures.jsonl'),
    })
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
    secret = generateSecret()
  })

  const open = async (change: { kind: 'url'; url: string } | { kind: 'secret'; overlapHours: number }) => {
    const { id } = await endpoint.row()
    const state = change.kind === 'url' ? ('candidate' as const) : ('announced' as const)
    const sealed = sealing(secret, service.encryptionKeys)
    return openChange(service.sql, id, { ...change, state, secret: sealed, requestedBy: 'key 7' })
  }
  const certified = async () => {
    const changeId = await open({ kind: 'url', url: URL_NEXT })
    const { id } = await requestCertification(service.sql, changeId, {
      acceptFailures: false,
      requestedBy: 'key 7',
    })
    const reports = certificationChecks.map((check) => {
      const refused = ['forged_signature', 'old_timestamp', 'changed_body'].includes(check)
      const outcome = { ...ACCEPTED, ok: !refused, status: refused ? 400 : 200 }
      return [check, judgeCheck(check, outcome, { valid: 'passed' })] as const
    })
    await service.sql
      .updateTable('certifications')
      .set({ reports: jsonb(Object.fromEntries(reports)) ?? {} })
      .where('id', '=', id)
      .execute()
    const { sql, encryptionKeys } = service
    const ended = await endCertification(sql, id, { environment: 'production', encryptionKeys })
    expect(ended).toEqual({ result: 'passed' })
    return changeId
  }
  const changeOf = (id: number) =>
    service.sql.selectFrom('endpoint_changes').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const announced = async (id: number) => {
    await createEndpointRequests(service.client).change(id)
    return until(async () => (await changeOf(id)).takes_effect_at ?? undefined)
  }
  const letTimePass = async (id: number) => {
    await service.sql
      .updateTable('endpoint_changes')
      .set({ takes_effect_at: raw<Date>`takes_effect_at - interval '24 hours'` })
      .where('id', '=', id)
      .execute()
    await service.client.workflow.getHandle(`endpoint-change-${id}`).signal('look')
  }
  const mailsAbout = () =>
    mails.mails.filter(
      ({ content }) => content.includes(`tech-${partner.id}@`) || content.includes(`Partner ${partner.id},`),
    )
  const secrets = async () => {
    const { id } = await endpoint.row()
    return service.sql
      .selectFrom('endpoint_secrets')
      .select('expires_at')
      .where('endpoint_id', '=', id)
      .orderBy('id')
      .execute()
  }

  it('takes effect 24 hours after partner and staff were told', async () => {
    const before = await endpoint.row()
    const changeId = await certified()
    const at = await announced(changeId)
    expect(Math.round((at.getTime() - Date.now()) / 60_000)).toBe(24 * 60)
    expect(mailsAbout().map(({ to }) => to)).toEqual([contact, 'staff@service.example'])
    for (const { content } of mailsAbout()) {
      expect(content).toContain('to    https://lender.example, with a signing secret of its own')
      expect(content).not.toMatch(/not-for-mails|whsec_/)
    }
    expect(mailsAbout()[1]?.content).toContain(`endpoint cancel-change ${partner.id}`)
    expect((await endpoint.row()).url).toBe(before.url)
    await letTimePass(changeId)
    await until(async () => (await changeOf(changeId)).state === 'applied')
    expect(await endpoint.row()).toMatchObject({
      url: URL_NEXT,
      state: expect.stringMatching(/draining|active/),
    })
    const [old, current] = await secrets()
    expect(old?.expires_at?.getTime()).toBeLessThanOrEqual(Date.now())
    expect(current?.expires_at).toBeNull()
    const audit = await auditOf(context)
    const ours = audit.filter(({ partner_id: id }) => id === partner.id)
    expect(ours.map(({ actor, action }) => [actor, action])).toEqual([
      ['key 7', 'endpoint.certification_ended'],
      ['key 7', 'endpoint.change_announced'],
      ['key 7', 'endpoint.change_applied'],
    ])
  })

  it('replaces a secret with its overlap, counted from the change', async () => {
    const changeId = await open({ kind: 'secret', overlapHours: 48 })
    await announced(changeId)
    expect(await secrets()).toEqual([{ expires_at: null }])
    await letTimePass(changeId)
    await until(async () => (await changeOf(changeId)).state === 'applied')
    const [old, current] = await secrets()
    expect(Math.round(((old?.expires_at?.getTime() ?? 0) - Date.now()) / 3_600_000)).toBe(48)
    expect(current?.expires_at).toBeNull()
  })

  it('never takes effect once staff have canceled it', async () => {
    const changeId = await certified()
    await announced(changeId)
    await cancelChange(context, partner.id)
    await service.client.workflow.getHandle(`endpoint-change-${changeId}`).result()
    expect((await changeOf(changeId)).state).toBe('canceled')
    expect((await endpoint.row()).url).toBe(partner.endpoint.url)
    await expect(cancelChange(context, partner.id)).rejects.toThrow('no change that can still be canceled')
  })

  it('is canceled when staff turn self-service off', async () => {
    const changeId = await open({ kind: 'secret', overlapHours: 0 })
    await announced(changeId)
    const answer = await selfService(context, partner.id, 'off')
    expect(answer.json).toEqual({ partner_id: partner.id, self_service: false, canceled: [changeId] })
    expect((await changeOf(changeId)).state).toBe('canceled')
  })

  it('waits until the partner’s contact could be told', async () => {
    mails.refusing = true
    const changeId = await open({ kind: 'secret', overlapHours: 0 })
    // the sweep starts it
    await until(async () => mails.refused.includes(contact))
    expect((await changeOf(changeId)).takes_effect_at).toBeNull()
    mails.refusing = false
    await announced(changeId)
    expect(mailsAbout().map(({ to }) => to)).toContain(contact)
  }, 60_000)

  it('gives way to what staff set meanwhile', async () => {
    const changeId = await certified()
    await announced(changeId)
    await set(context, partner.id, 'https://lender.example/by-staff')
    expect((await changeOf(changeId)).state).toBe('replaced')
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
