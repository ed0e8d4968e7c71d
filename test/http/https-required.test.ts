import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { makeCertificate } from '../webhooks/certificate.ts'
import { type Api, type ApiPartner, borrower, prepareApi } from '../support/api.ts'

const PROXY = '10.0.0.10'

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
  const refused = [403, 'HTTPS_REQUIRED']
  const taken = [200, undefined]

  it('refuses what came over plain HTTP, before anything comes of it', async () => {
    const plain = { headers: { 'x-forwarded-proto': 'http' }, remoteAddress: PROXY }
    const answers = await Promise.all([
      partner.send({ method: 'POST', url: '/v1/create-lead', payload: borrower, ...plain }),
      partner.send({ method: 'GET', url: '/v1/ping', ...plain }),
      api.send({ method: 'POST', url: '/v1/get-lead', payload: '{', ...plain }),
      api.send({ method: 'GET', url: '/v1/nothing', ...plain }),
      api.send({ method: 'GET', url: '/docs', ...plain }),
    ])
    for (const { status, body, headers } of answers) {
      expect([status, body]).toEqual([
        403,
        { success: false, error: { code: 'HTTPS_REQUIRED', message: expect.stringContaining('HTTPS') } },
      ])
      expect(headers['x-request-id']).toBeDefined()
    }
    const { lastId } = await api.sql
      .selectFrom('leads')
      .select(({ fn }) => fn.max('id').as('lastId'))
      .executeTakeFirstOrThrow()
    expect(lastId).toBeNull()
  })

  it.each(['http', ' HTTP ', 'https, http', 'ftp'])(
    'refuses X-Forwarded-Proto: %j, which names a way that is not HTTPS',
    async (protocol) => {
      expect(await ping(protocol, PROXY)).toEqual(refused)
      expect(await ping(protocol, '192.168.3.4')).toEqual(refused)
    },
  )

  it.each(['HTTPS', 'https, https'])('takes X-Forwarded-Proto: %j', async (protocol) => {
    expect(await ping(protocol, PROXY)).toEqual(taken)
  })

  it.each([undefined, ' , '])(
    'refuses what a proxy forwards with X-Forwarded-Proto: %j, which does not say how it came',
    async (protocol) => {
      const headers = protocol === undefined ? {} : { 'x-forwarded-proto': protocol }
      const before = api.logged.length
      const answers = await Promise.all([
        partner.send({
          method: 'POST',
          url: '/v1/create-lead',
          payload: borrower,
          headers,
          remoteAddress: PROXY,
        }),
        partner.send({ method: 'GET', url: '/v1/ping', headers, remoteAddress: PROXY }),
        api.send({ method: 'GET', url: '/v1/nothing', headers, remoteAddress: PROXY }),
      ])
      for (const { status, body } of answers) {
        expect([status, body.error]).toEqual([
          403,
          { code: 'HTTPS_REQUIRED', message: expect.stringContaining('Use HTTPS') },
        ])
      }
      expect(api.logged.slice(before).join('')).not.toMatch(/partner_id|authentication/)
    },
  )

  it('answers a ping without a key to a proxy that does not say how it came', async () => {
    expect(await ping(undefined, PROXY)).toEqual(taken)
  })

  it.each(['10.0.0.11', '::1'])(
    'refuses plain HTTP of any other peer (%s), whatever it says, and does not look at its key',
    async (remoteAddress) => {
      const before = api.logged.length
      const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': PROXY }
      const answers = await Promise.all([
        partner.send({ method: 'POST', url: '/v1/create-lead', payload: borrower, headers, remoteAddress }),
        partner.send({ method: 'GET', url: '/v1/ping', headers, remoteAddress }),
        partner.send({ method: 'GET', url: '/v1/ping', remoteAddress }),
        api.send({ method: 'GET', url: '/v1/ping', headers: { authorization: 'x' }, remoteAddress }),
        api.send({ method: 'POST', url: '/v1/ping', headers, remoteAddress }),
        api.send({ method: 'GET', url: '/v1/nothing', headers, remoteAddress }),
        api.send({ method: 'GET', url: '/console', headers, remoteAddress }),
      ])
      for (const { status, body } of answers) {
        expect([status, body]).toEqual([
          403,
          {
            success: false,
            error: {
              code: 'HTTPS_REQUIRED',
              message: expect.stringContaining('Use HTTPS'),
            },
          },
        ])
      }
      // neither whose key it is, nor why one would be refused, is known
      expect(api.logged.slice(before).join('')).not.toMatch(/partner_id|authentication/)
    },
  )

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
