import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { makeCertificate } from '../webhooks/certificate.ts'
import { type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'

const PROXY = '10.0.0.10'
const refused = [403, 'HTTPS_REQUIRED']
const taken = [200, undefined]

describe('behind a TLS proxy', () => {
  let api: Api
  let partner: ApiPartner
  beforeAll(async () => {
    api = await prepareApi({ trustProxy: `${PROXY}, 192.168.0.0/16` })
    partner = await api.addPartner()
  })
  const ping = async (protocol: string | undefined, remoteAddress: string, of = api) => {
    const headers = protocol === undefined ? {} : { 'x-forwarded-proto': protocol }
    const { status, body } = await of.send({ method: 'GET', url: '/v1/ping', headers, remoteAddress })
    return [status, body.error?.code]
  }

  it.each([
    [PROXY, 'http'],
    // these do not say how it came
    [PROXY, undefined],
    [PROXY, ' , '],
    // whatever it says, it is no proxy
    ['10.0.0.11', 'https'],
    ['10.0.0.11', undefined],
    ['::1', 'https'],
  ])('refuses plain HTTP of %s with X-Forwarded-Proto: %j, and looks at no key', async (peer, protocol) => {
    const before = api.logged.length
    const headers = {
      'x-forwarded-for': PROXY,
      ...(protocol !== undefined && { 'x-forwarded-proto': protocol }),
    }
    const way = { headers, remoteAddress: peer }
    const wrongKey = { headers: { ...headers, authorization: 'x' }, remoteAddress: peer }
    const answers = await Promise.all([
      partner.send({ method: 'POST', url: '/v1/create-lead', payload: borrower, ...way }),
      partner.send({ method: 'GET', url: '/v1/ping', ...way }),
      api.send({ method: 'GET', url: '/v1/ping', ...wrongKey }),
      api.send({ method: 'POST', url: '/v1/ping', ...way }),
      api.send({ method: 'POST', url: '/v1/get-lead', payload: '{', ...way }),
      ...['/v1/nothing', '/docs', '/console'].map((url) => api.send({ method: 'GET', url, ...way })),
    ])
    for (const { status, body, headers: answered } of answers) {
      expect([status, body]).toEqual([
        403,
        { success: false, error: { code: 'HTTPS_REQUIRED', message: expect.stringContaining('Use HTTPS') } },
      ])
      expect(answered['x-request-id']).toBeDefined()
    }
    // neither whose key it is, nor why one would be refused, is known
    expect(api.logged.slice(before).join('')).not.toMatch(/partner_id|authentication/)
    expect(await api.sql.selectFrom('leads').select('id').execute()).toEqual([])
  })

  it.each([
    ['http', refused],
    [' HTTP ', refused],
    ['https, http', refused],
    ['ftp', refused],
    ['HTTPS', taken],
    ['https, https', taken],
    // as balancers ping
    [undefined, taken],
  ])('answers a ping of its with X-Forwarded-Proto: %j and no key by %j', async (protocol, answer) => {
    for (const proxy of [PROXY, '192.168.3.4']) expect(await ping(protocol, proxy)).toEqual(answer)
  })

  it('answers a ping without a key to anybody, as balancers send it', async () => {
    expect(await ping(undefined, '10.0.0.11')).toEqual(taken)
    expect(await ping('https', '127.0.0.1')).toEqual(taken)
    const { status } = await api.send({ method: 'GET', url: '/v1/ping?now', remoteAddress: '10.0.0.11' })
    expect(status).toBe(200)
  })

  it('serves TLS of its own to everybody', async () => {
    const { cert, key } = makeCertificate({ host: 'localhost' })
    const own = await prepareApi({ trustProxy: PROXY, tls: { cert, key } })
    const { key: ownKey } = await own.addPartner()
    await own.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = own.app.server.address() as AddressInfo
    const asked = request({
      host: 'localhost',
      port,
      path: '/v1/ping',
      ca: cert,
      headers: { authorization: `Service-Key ${ownKey}` },
    })
    asked.end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.resume()
    expect(answer.statusCode).toBe(200)
  })

  it('is not asked for where there is no proxy: the API then listens on loopback only', async () => {
    expect(await ping('http', PROXY, await prepareApi())).toEqual(taken)
  })
})
