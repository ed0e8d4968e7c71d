import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type Answer, type Api, type ApiPartner, prepareApi } from '../support/api.ts'
import { until } from '../support/until.ts'
import { switchableProxy } from '../http/switchable-proxy.ts'

const LIMIT = 5

describe('rate limits', () => {
  let api: Api
  beforeEach(async () => {
    api = await prepareApi({ rateLimit: LIMIT })
  })
  const codes = async (count: number, call: () => Promise<Answer>) => {
    const all: number[] = []
    for (let index = 0; index < count; index += 1) all.push((await call()).status)
    return all
  }
  const limited = (status: number) => [...Array.from({ length: LIMIT }, () => status), 429]
  const ping = () => api.send({ method: 'GET', url: '/v1/ping' })

  it('answer 429 RATE_LIMITED with Retry-After in the shape of every failure', async () => {
    const partner = await api.addPartner()
    expect(await codes(LIMIT + 1, () => partner.post('get-lead', { lead_id: 1 }))).toEqual(limited(404))
    const { body, headers } = await partner.post('get-lead', { lead_id: 1 })
    expect(body).toEqual({ success: false, error: { code: 'RATE_LIMITED', message: expect.any(String) } })
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60)
  })

  it('are per partner after authentication, even behind one address', async () => {
    const [first, second] = [await api.addPartner(), await api.addPartner()]
    await codes(LIMIT + 1, () => first.post('get-lead', { lead_id: 1 }))
    expect((await second.post('get-lead', { lead_id: 1 })).status).toBe(404)
    expect((await first.send({ method: 'GET', url: '/v1/ping' })).status).toBe(429)
  })

  it.each<[string, number, () => Promise<Answer>]>([
    ['requests without a key', 401, () => api.post('get-lead', {})],
    ['wrong keys', 401, () => api.post('get-lead', {}, { authorization: 'Service-Key x' })],
    ['pings without a key', 200, ping],
    ['unknown paths', 404, () => api.send({ method: 'GET', url: '/x' })],
    ['unknown methods', 405, () => api.send({ method: 'GET', url: '/v1/get-lead' })],
    ['the document', 200, () => api.send({ method: 'GET', url: '/v1/openapi.json' })],
  ])('count %s against the address', async (_, status, call) => {
    expect(await codes(LIMIT + 1, call)).toEqual(limited(status))
  })

  it('are off at 0', async () => {
    const free = await prepareApi({ rateLimit: 0 })
    const statuses = await codes(200, () => free.send({ method: 'GET', url: '/v1/ping' }))
    expect(new Set(statuses)).toEqual(new Set([200]))
  })
})

describe('an address with too many refused keys', () => {
  let api: Api
  let proxy: Awaited<ReturnType<typeof switchableProxy>>
  let foreign: ApiPartner
  beforeAll(async () => {
    foreign = await (await prepareApi()).addPartner()
  })
  const prepare = async (rateLimit: number) => {
    api = await prepareApi({
      rateLimit,
      through: async (url) => {
        proxy = await switchableProxy(new URL(url))
        return proxy.url
      },
    })
  }
  beforeEach(() => prepare(LIMIT))
  afterEach(() => proxy.close())

  const get = (authorization: string, remoteAddress = '203.0.113.7') =>
    api.send({ method: 'GET', url: '/v1/ping', headers: { authorization }, remoteAddress })
  const withKey = ({ key }: ApiPartner, address?: string) => get(`Service-Key ${key}`, address)
  /** Well formed and for this environment, but unknown: only PostgreSQL can tell. */
  const unknownKey = (address?: string) => withKey(foreign, address)
  const lastRefusal = () =>
    JSON.parse(api.logged.findLast((line) => line.includes('"authentication"')) ?? '{}').authentication
  const statuses = async (count: number, call: () => Promise<Answer>) =>
    Promise.all(Array.from({ length: count }, async () => (await call()).status))

  it('is stopped before PostgreSQL is asked', async () => {
    for (let count = 0; count < LIMIT; count += 1) expect((await unknownKey()).status).toBe(401)
    proxy.goAway()
    const stopped = await unknownKey()
    expect([stopped.status, stopped.body.error?.code]).toEqual([429, 'RATE_LIMITED'])
    expect(Number(stopped.headers['retry-after'])).toBeGreaterThan(0)
    // a lookup in PostgreSQL would respond 503
    expect((await unknownKey('203.0.113.8')).status).toBe(503)
  })

  it('leaves the keys alone that were good within the last ten minutes', async () => {
    const [neighbour, newcomer] = [await api.addPartner(), await api.addPartner()]
    expect((await withKey(neighbour)).status).toBe(200)
    await statuses(2 * LIMIT, unknownKey)
    expect((await withKey(neighbour)).status).toBe(200)
    expect((await withKey(newcomer)).status).toBe(429)
    expect((await withKey(newcomer, '203.0.113.8')).status).toBe(200)
    expect((await withKey(newcomer)).status).toBe(200)
  })

  it('has a key refused within a second of its being revoked, and stopped from then on', async () => {
    await proxy.close()
    await prepare(20 * LIMIT)
    const neighbour = await api.addPartner()
    expect((await withKey(neighbour)).status).toBe(200)
    await statuses(40 * LIMIT, unknownKey)
    await api.sql
      .updateTable('api_keys')
      .set({ revoked_at: new Date() })
      .where('id', '=', neighbour.keyId)
      .execute()
    const revokedAt = performance.now()
    const refused = await until(async () => {
      const askedAt = performance.now()
      const { status } = await withKey(neighbour)
      if (status !== 200) return status
      expect(askedAt - revokedAt).toBeLessThan(1000)
      return undefined
    })
    // this refusal exceeds the limit
    expect(refused).toBe(429)
    expect(lastRefusal()).toBe('revoked')
    proxy.goAway()
    expect((await withKey(neighbour)).status).toBe(429)
  })
})
