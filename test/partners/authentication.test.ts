import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { issueKey } from '../../src/partners/keys.ts'
import { type Api, type ApiPartner, prepareApi } from '../support/api.ts'

const refusal = {
  success: false,
  error: {
    code: 'AUTH_FAILED',
    message:
      'Authentication failed: send the header "Authorization: Service-Key <API_KEY>" with a valid key.',
  },
}

describe('authentication', () => {
  let api: Api
  let partner: ApiPartner
  beforeAll(async () => {
    api = await prepareApi()
  })
  beforeEach(async () => {
    partner = await api.addPartner()
  })

  const ping = (headers: Record<string, string>) => api.send({ method: 'GET', url: '/v1/ping', headers })
  const withKey = (key: string) => ping({ authorization: `Service-Key ${key}` })
  const update = (values: { revoked_at?: Date; expires_at?: Date }) =>
    api.sql.updateTable('api_keys').set(values).where('id', '=', partner.keyId).execute()
  const lastLogged = (field: string) =>
    JSON.parse(api.logged.findLast((line) => line.includes(field)) ?? '{}')

  it.each(['create-lead', 'get-lead', 'get-events', 'update-partner-info'])(
    '%s needs a key: without one 401 AUTH_FAILED',
    async (path) => {
      const { status, body, headers } = await api.post(path, { lead_id: 1 })
      expect([status, body]).toEqual([401, refusal])
      expect(headers['www-authenticate']).toBe('Service-Key')
      expect(lastLogged('"authentication"')).toMatchObject({ authentication: 'missing', status: 401 })
    },
  )

  it.each(['', 'Service-Key ', 'Bearer KEY', 'KEY', 'Service-KeyKEY', 'Service-Key KEY x'])(
    'refuses a wrongly prefixed key: %j',
    async (pattern) => {
      const { status, body } = await ping({ authorization: pattern.replaceAll('KEY', partner.key) })
      expect([status, body]).toEqual([401, refusal])
    },
  )

  it.each(['Service-Key', 'SERVICE-KEY', 'Service-Key '])(
    'takes the scheme in any case: %j',
    async (scheme) => {
      const { status } = await ping({ authorization: `${scheme} ${partner.key}` })
      expect(status).toBe(200)
    },
  )

  it('refuses a malformed key without asking the database', async () => {
    const swapped = partner.key.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    for (const key of ['x', 'prs_test_', swapped, partner.key.toUpperCase(), `${partner.key}0`]) {
      const { status, body } = await withKey(key)
      expect([status, body]).toEqual([401, refusal])
      expect(lastLogged('"authentication"')).toMatchObject({ authentication: 'malformed' })
    }
  })

  it('answers alike for every key that does not work; the true reason is in the log only', async () => {
    const other = await prepareApi()
    const unknown = await other.addPartner()
    const revoked = await api.addPartner()
    await api.sql
      .updateTable('api_keys')
      .set({ revoked_at: new Date() })
      .where('id', '=', revoked.keyId)
      .execute()
    await update({ expires_at: new Date(Date.now() - 1) })
    for (const [key, reason] of [
      [unknown.key, 'unknown'],
      [revoked.key, 'revoked'],
      [partner.key, 'expired'],
    ] as const) {
      const { status, body } = await withKey(key)
      expect([status, body]).toEqual([401, refusal])
      expect(lastLogged('"authentication"')).toMatchObject({
        authentication: reason,
        status: 401,
        msg: 'request',
      })
    }
  })

  it.each(['sandbox', 'production'] as const)(
    'tells the sender of the other environment’s key in the %s',
    async (environment) => {
      const here = await prepareApi({ environment })
      const there = environment === 'sandbox' ? 'production' : 'sandbox'
      const { key } = await issueKey(here.sql, (await here.addPartner()).id, there)
      const { status, body } = await here.send({
        method: 'GET',
        url: '/v1/ping',
        headers: { authorization: `Service-Key ${key}` },
      })
      expect([status, body.error.code]).toEqual([401, 'AUTH_FAILED'])
      expect(body.error.message).toContain(`this is the ${environment} environment`)
    },
  )

  it('refuses a revoked key within one second', async () => {
    expect((await withKey(partner.key)).status).toBe(200)
    await update({ revoked_at: new Date() })
    const revokedAt = performance.now()
    let askedAt = revokedAt
    // an accepted request counts by its beginning, however long its response took
    while ((await withKey(partner.key)).status === 200) {
      expect(askedAt - revokedAt).toBeLessThan(1000)
      askedAt = performance.now()
    }
    expect((await withKey(partner.key)).status).toBe(401)
  })

  it('accepts a key as soon as it is issued, even one that was refused before', async () => {
    await update({ revoked_at: new Date() })
    expect((await withKey(partner.key)).status).toBe(401)
    await api.sql.updateTable('api_keys').set({ revoked_at: null }).where('id', '=', partner.keyId).execute()
    expect((await withKey(partner.key)).status).toBe(200)
  })

  it('notes when a key was last used', async () => {
    await withKey(partner.key)
    const read = () =>
      api.sql
        .selectFrom('api_keys')
        .select('last_used_at')
        .where('id', '=', partner.keyId)
        .executeTakeFirstOrThrow()
    while ((await read()).last_used_at === null) await new Promise(setImmediate)
    expect((await read()).last_used_at).toBeInstanceOf(Date)
  })
})
