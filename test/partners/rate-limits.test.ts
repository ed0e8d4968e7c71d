import { beforeEach, describe, expect, it } from '@jest/globals'
import { type Answer, type Api, prepareApi } from '../support/api.ts'

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

  it('are per partner after authentication, even behind one address, whose keys may be refused', async () => {
    const [first, second] = [await api.addPartner(), await api.addPartner()]
    await codes(LIMIT + 1, () => first.post('get-lead', { lead_id: 1 }))
    await codes(LIMIT + 1, () => api.post('get-lead', {}, { authorization: 'Service-Key x' }))
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
