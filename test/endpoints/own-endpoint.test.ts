import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { switchAsStaff } from '../../src/endpoints/switch-endpoint.ts'
import { secretPlace, signingSecrets } from '../../src/endpoints/secrets.ts'
import type { EndpointDependencies } from '../../src/endpoints/own-endpoint.ts'
import { pauseOrResume } from '../../src/endpoints/pause-endpoint.ts'
import { open, sealing } from '../../src/seal.ts'
import { generateSecret } from '../../src/webhooks/signature.ts'
import { putEndpoints } from '../support/endpoint-states.ts'
import { type Api, type ApiPartner, prepareApi } from '../support/api.ts'
import { testKeys } from '../support/test-keys.ts'

const URL_NOW = 'https://lender.example/now'
const URL_NEXT = 'https://lender.example/next?token=not-for-logs'

/** A partner with an endpoint that staff set. */
async function addPartnerAt(api: Api, url: string | null = URL_NOW): Promise<ApiPartner> {
  const partner = await api.addPartner()
  const secret = sealing(generateSecret(), testKeys)
  if (url !== null) await switchAsStaff(api.sql, partner.id, { url, secret })
  return partner
}

const endpointOf = (api: Api, { id }: ApiPartner) =>
  api.sql.selectFrom('endpoints').selectAll().where('partner_id', '=', id).executeTakeFirstOrThrow()

async function secretsOf(api: Api, partner: ApiPartner) {
  const rows = await api.sql
    .selectFrom('endpoint_secrets')
    .select(['id', 'ciphertext', 'expires_at'])
    .where('partner_id', '=', partner.id)
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    secret: open(row.ciphertext, secretPlace(row.id), testKeys),
    hoursLeft: row.expires_at && (Math.round((row.expires_at.getTime() - Date.now()) / 3_600_000) || 0),
  }))
}

const auditOf = (api: Api, { id }: ApiPartner) =>
  api.sql
    .selectFrom('audit')
    .select(['actor', 'action', 'outcome', 'detail'])
    .where('partner_id', '=', id)
    .orderBy('id')
    .execute()

describe('a partner’s own endpoint', () => {
  let api: Api
  let partner: ApiPartner
  beforeAll(async () => {
    api = await prepareApi()
  })
  beforeEach(async () => {
    partner = await addPartnerAt(api)
  })

  it('stores a candidate with a secret of its own, shown once, and changes nothing yet', async () => {
    const before = await endpointOf(api, partner)
    const { status, body } = await partner.post('set-endpoint', { url: URL_NEXT })
    expect([status, body.data.url, body.data.candidate]).toEqual([
      200,
      URL_NOW,
      { url: URL_NEXT, requested_at: expect.any(String) },
    ])
    const { secret } = body.data
    expect(secret).toMatch(/^whsec_/)
    const after = await endpointOf(api, partner)
    expect(after).toEqual({
      ...before,
      candidate: after.candidate,
      candidate_url: URL_NEXT,
      candidate_at: expect.any(Date),
    })
    expect(await signingSecrets(api.sql, partner.id, testKeys)).not.toContain(secret)
    const read = await partner.post('get-endpoint', {})
    expect(read.body.data.candidate.url).toBe(URL_NEXT)
    expect(read.text).not.toContain('whsec_')
    expect(api.logged.join('')).not.toMatch(/whsec_|not-for-logs/)
    expect(await auditOf(api, partner)).toEqual([
      {
        actor: `key ${partner.keyId}`,
        action: 'endpoint.propose',
        outcome: 'done',
        detail: { key_id: partner.keyId, candidate: after.candidate, origin: 'https://lender.example' },
      },
    ])
  })

  it.each([
    [{}, 'url must be a string'],
    [{ url: 5 }, 'url must be a string'],
    [{ url: 'lender.example' }, 'it is not an absolute URL'],
    [{ url: 'http://127.0.0.1/webhooks' }, 'the URL must point to a public internet address'],
    [{ url: 'http://[::ffff:10.0.0.1]/' }, 'the URL must point to a public internet address'],
    [{ url: 'https://user:pass@lender.example/' }, 'the URL must not contain a user name or password'],
  ])('refuses %j as a URL and says why', async (body, why) => {
    const answer = await partner.post('set-endpoint', body)
    expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_PAYLOAD'])
    expect(answer.body.error.message).toContain(why)
  })

  it('starts one certification for a candidate, however often it is asked for', async () => {
    expect((await partner.post('certify-endpoint', {})).body.error.code).toBe('NO_CANDIDATE')
    await partner.post('set-endpoint', { url: URL_NEXT })
    const answers = await Promise.all(Array.from({ length: 5 }, () => partner.post('certify-endpoint', {})))
    for (const { body } of answers) {
      expect(body.data.certification).toMatchObject({ url: URL_NEXT, state: 'running', checks: [] })
    }
    const audited = (await auditOf(api, partner)).filter(({ action }) => action === 'endpoint.certify')
    expect(audited).toHaveLength(1)
    const { candidate } = await endpointOf(api, partner)
    expect(audited[0]?.detail?.candidate).toBe(candidate)
    expect(api.requested).toContain(`certify ${partner.id}`)
  })

  it.each([
    [{}, 24],
    [{ overlap_hours: 0 }, 0],
    [{ overlap_hours: 168 }, 168],
  ])('rotates the secret at once, with the overlap of %j', async (body, hours) => {
    const [old] = await secretsOf(api, partner)
    const { data } = (await partner.post('rotate-endpoint-secret', body)).body
    expect(await secretsOf(api, partner)).toEqual([
      { secret: old?.secret, hoursLeft: hours },
      { secret: data.secret, hoursLeft: null },
    ])
    const notices = api.sql.selectFrom('notices').select(['kind', 'recipient'])
    expect(await notices.where('partner_id', '=', partner.id).execute()).toEqual([
      { kind: 'secret_changed', recipient: 'partner' },
      { kind: 'secret_changed', recipient: 'staff' },
    ])
  })

  it('keeps few secrets, however often they are rotated', async () => {
    const newest: string[] = []
    for (let count = 0; count < 6; count += 1)
      newest.unshift((await partner.post('rotate-endpoint-secret', { overlap_hours: 168 })).body.data.secret)
    const live = await signingSecrets(api.sql, partner.id, testKeys)
    expect(live).toEqual(newest.slice(0, 5))
  })

  it('answers 503 while Temporal is away; the next call starts what was not started', async () => {
    const endpointRequests: EndpointDependencies['endpointRequests'] = {
      certify: () => Promise.reject(new Error('away')),
      ping: () => Promise.reject(new Error('away')),
    }
    const away = await prepareApi({ endpointRequests })
    const lender = await addPartnerAt(away)
    await lender.post('set-endpoint', { url: URL_NEXT })
    for (const path of ['certify-endpoint', 'test-endpoint']) {
      const { status, headers } = await lender.post(path, {})
      expect([path, status, headers['retry-after']]).toEqual([path, 503, expect.any(String)])
    }
    const asked: unknown[] = []
    endpointRequests.certify = async (id) => void asked.push(id)
    expect((await lender.post('certify-endpoint', {})).status).toBe(200)
    expect(asked).toEqual([lender.id])
  })

  it('sends a test request, and returns its outcome', async () => {
    const { body } = await partner.post('test-endpoint', {})
    expect(body.data).toMatchObject({ accepted: true, status: 200, error_code: null })
    expect(api.requested).toContain(`ping ${partner.id}`)
  })

  it('pauses and resumes', async () => {
    const paused = await partner.post('pause-endpoint', {})
    expect(paused.body.data).toMatchObject({ health: 'paused', reason: 'it was paused with pause-endpoint' })
    const { round } = await endpointOf(api, partner)
    const looks = () => api.requested.filter((what) => what === `endpoint ${partner.id}`)
    expect(looks()).toHaveLength(1)
    await partner.post('pause-endpoint', {})
    expect((await endpointOf(api, partner)).round).toBe(round)
    const resumed = await partner.post('resume-endpoint', {})
    expect(resumed.body.data).toMatchObject({
      health: 'active',
      reason: 'it was resumed with resume-endpoint',
    })
    expect(looks()).toHaveLength(2)
    const again = await partner.post('resume-endpoint', {})
    expect([again.status, again.body.data.since]).toEqual([200, resumed.body.data.since])
    const actions = (await auditOf(api, partner)).map(({ action }) => action)
    expect(actions).toEqual(['endpoint.pause', 'endpoint.resume'])
  })

  it('tries all waiting webhooks now when it is resumed, and a repeat changes nothing until they are woken', async () => {
    const { round } = await endpointOf(api, partner)
    await putEndpoints(api.sql, 'active', { partnerId: partner.id })
    const before = api.requested.length
    await partner.post('resume-endpoint', {})
    await partner.post('resume-endpoint', {})
    expect(api.requested.slice(before)).toEqual([`endpoint ${partner.id}`])
    expect((await endpointOf(api, partner)).round).toBe(round + 1)
  })

  it('leaves to staff what staff paused', async () => {
    await pauseOrResume(api.sql, partner.id, 'staff')
    const { body } = await partner.post('pause-endpoint', {})
    expect(body.data.reason).toBe('our staff paused it')
    const resumed = await partner.post('resume-endpoint', {})
    expect([resumed.status, resumed.body.error.code]).toEqual([409, 'PAUSED_BY_STAFF'])
    expect((await endpointOf(api, partner)).paused_by).toBe('staff')
  })

  it.each(['rotate-endpoint-secret', 'test-endpoint', 'pause-endpoint', 'resume-endpoint'])(
    'needs a URL for %s',
    async (path) => {
      const without = await addPartnerAt(api, null)
      const { status, body } = await without.post(path, {})
      expect([status, body.error.code]).toEqual([409, 'NO_ENDPOINT'])
    },
  )

  it('accepts failures in a sandbox only', async () => {
    const production = await prepareApi({ environment: 'production' })
    const lender = await addPartnerAt(production)
    await lender.post('set-endpoint', { url: URL_NEXT })
    const { status, body } = await lender.post('certify-endpoint', { accept_failures: true })
    expect([status, body.error.message]).toEqual([
      400,
      'Invalid request: accept_failures is possible in a sandbox only.',
    ])
  })
})
