import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { certifyFirst } from '../../src/capabilities/self-service/commands/certify-first.ts'
import { certificationChecks } from '../../src/capabilities/self-service/decisions/certification.ts'
import { set, showEndpoint } from '../../src/core/endpoints/commands/endpoint.ts'
import { signingSecrets } from '../../src/core/endpoints/statements/secrets.ts'
import { issue } from '../../src/core/partners/commands/key.ts'
import { add } from '../../src/core/partners/commands/partner.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { type PartnerEndpoint, startPartnerEndpoint } from '../support/partner-endpoint.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { auditOf, contextOf, withoutTemporal } from './context.ts'

describe('endpoint set', () => {
  let service: SharedService
  let context: StaffContext
  let partner: TestPartner
  let next: PartnerEndpoint

  beforeAll(async () => {
    service = await sharedService()
    context = await contextOf(service.environment)
  })

  beforeEach(async () => {
    partner = await service.addPartner()
    next = await startPartnerEndpoint()
    next.secret = partner.endpoint.secret
    next.answer = ({ verified }, response) => void response.writeHead(verified ? 200 : 400).end()
  })

  const setTo = (url: string, options = {}, on = context) => set(on, partner.id, url, options, certifyFirst)
  const urlOf = async (id = partner.id) => (await showEndpoint(context, id)).json.url
  const candidateOf = async (id = partner.id) => (await showEndpoint(context, id)).json.candidate
  const actionsOf = async (id = partner.id) =>
    (await auditOf(context))
      .filter(({ partner_id }) => partner_id === id)
      .map(({ action, outcome, actor }) => `${actor}: ${action} ${outcome}`)

  it('certifies the URL with the secret that the partner has, and only then changes over', async () => {
    const { json, text } = await setTo(next.url)
    expect(json).toMatchObject({ url: next.url, certified: true, secret: null, state: 'draining' })
    expect(text).toContain(' It passed its certification.')
    expect(next.arrivals.slice(0, 6)).toHaveLength(certificationChecks.length)
    expect([await urlOf(), await candidateOf()]).toEqual([next.url, null])
    expect(await actionsOf()).toEqual([
      'tester: endpoint.certify done',
      'staff: endpoint.certification_ended done',
      'tester: endpoint.set begun',
      'tester: endpoint.set done',
    ])
  })

  it('changes nothing where the server does not verify, says what failed, and obeys --untested', async () => {
    next.answer = (_, response) => void response.writeHead(200).end()
    const { json, text, failed } = await setTo(next.url)
    expect({ json, failed }).toMatchObject({
      failed: true,
      json: { state: 'unchanged', certified: false, result: 'failed' },
    })
    expect(text).toMatch(/^http.* was not set: it did not pass its certification\.\n/)
    expect(text).toMatch(/^forged_signature +failed +a 4xx status +status 200 +Verify the header/m)
    expect(text).toContain(
      `npm run staff -- endpoint set ${partner.id} '${next.url}'\n\nTo set the URL without certifying it, add --untested.`,
    )
    expect([await urlOf(), await candidateOf()]).toEqual([partner.endpoint.url, null])
    const before = next.arrivals.length
    expect((await setTo(next.url, { untested: true })).json).toMatchObject({
      certified: false,
      url: next.url,
    })
    expect(next.arrivals).toHaveLength(before)
    expect(await urlOf()).toBe(next.url)
  })

  it('gives a new partner its secret first, which the next call certifies with, at another URL too', async () => {
    const { partner_id: id } = (await add(context, 'Acme', {})).json
    const mistyped = await set(context, id, `${next.url}/mistyped?a=1&b=it's`, {}, certifyFirst)
    expect(mistyped.json).toMatchObject({ state: 'candidate', secret: expect.stringMatching(/^whsec_/) })
    expect(mistyped.text).toContain(`npm run staff -- endpoint set ${id} '${next.url}/mistyped?a=1&b=it%27s'`)
    expect([next.arrivals, await urlOf(id)]).toEqual([[], null])
    next.secret = String(mistyped.json.secret)
    const { DATABASE_URL: database, ENCRYPTION_KEY: keys } = service.environment
    const away = await contextOf({ ...withoutTemporal(database), ENCRYPTION_KEY: keys })
    await expect(set(away, id, next.url, {}, certifyFirst)).rejects.toThrow('Nothing was changed.')
    next.answer = (_, response) => void response.writeHead(500).end()
    expect(await set(context, id, next.url, {}, certifyFirst)).toMatchObject({ failed: true })
    next.answer = ({ verified }, response) => void response.writeHead(verified ? 200 : 400).end()
    const { json } = await set(context, id, next.url, {}, certifyFirst)
    expect(json).toMatchObject({ certified: true, secret: null, state: 'draining' })
    expect(await urlOf(id)).toBe(next.url)
  })

  it('signs with the secret that the partner was given, though the URL is then set untested', async () => {
    const { partner_id: id } = (await add(context, 'Acme', {})).json
    const { secret } = (await set(context, id, next.url, {}, certifyFirst)).json
    const { json, text } = await set(context, id, next.url, { untested: true }, certifyFirst)
    expect(json).toMatchObject({ certified: false, secret: null, state: 'draining' })
    expect(text).toContain('It keeps its signing secret.')
    const signing = await signingSecrets(context.sql, Number(json.endpoint_id), await context.openingKeys())
    expect(signing).toEqual([secret])
  })

  it('takes the secret that the partner got with a candidate of its own', async () => {
    const { partner_id: id } = (await add(context, 'Acme', {})).json
    const { key } = (await issue(context, id)).json
    const proposed = await partnerCalls(service.port, key).post('set-endpoint', { url: next.url })
    next.secret = (proposed.body.data as unknown as { secret: string }).secret
    expect((await set(context, id, next.url, {}, certifyFirst)).json).toMatchObject({ certified: true })
  })

  it('does not change over by itself, when the command is gone by the time that the URL has passed', async () => {
    next.answer = ({ verified }, response) =>
      void setTimeout(() => response.writeHead(verified ? 200 : 400).end(), 50)
    const own = await contextOf(service.environment)
    const setting = set(own, partner.id, next.url, {}, certifyFirst).catch(() => 'gone')
    await next.until(({ length }) => length > 0)
    await own.close()
    expect(await setting).toBe('gone')
    await until(async () => (await actionsOf()).some((line) => line.includes('certification_ended')))
    expect(await urlOf()).toBe(partner.endpoint.url)
  })

  it('loses to whoever changes the endpoint meanwhile', async () => {
    let other: Promise<unknown> | undefined
    next.answer = ({ verified }, response) => {
      other ??= partnerCalls(service.port, partner.key).post('set-endpoint', { url: partner.endpoint.url })
      void other.then(() => response.writeHead(verified ? 200 : 400).end())
    }
    const { text, failed } = await setTo(next.url)
    expect({ failed, text }).toEqual({
      failed: true,
      text: expect.stringContaining('changed the endpoint meanwhile'),
    })
    expect(await urlOf()).toBe(partner.endpoint.url)
  })

  it('changes nothing while Temporal is away, and says so', async () => {
    const { DATABASE_URL: url, ENCRYPTION_KEY: key } = service.environment
    const away = await contextOf({ ...withoutTemporal(url), ENCRYPTION_KEY: key })
    await expect(setTo(next.url, {}, away)).rejects.toThrow(/Nothing was changed\. .*--untested/)
    expect([await urlOf(), await candidateOf()]).toEqual([partner.endpoint.url, null])
    expect((await setTo(next.url, { untested: true }, away)).json).toMatchObject({ certified: false })
  })
})
