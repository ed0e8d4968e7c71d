import { beforeAll, describe, expect, it } from '@jest/globals'
import { type Api, type ApiPartner, borrower, prepareApi } from './api.ts'

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

  it.each(['http', 'HTTP', ' http ', 'https, http', 'http,https', 'http, http'])(
    'refuses X-Forwarded-Proto: %j, which names a way in plain text',
    async (protocol) => {
      expect(await ping(protocol, PROXY)).toEqual(refused)
      expect(await ping(protocol, '192.168.3.4')).toEqual(refused)
    },
  )

  it.each(['https', 'HTTPS', 'https, https', ''])('takes X-Forwarded-Proto: %j', async (protocol) => {
    expect(await ping(protocol, PROXY)).toEqual(taken)
  })

  it('takes requests of a proxy that does not say how they came', async () => {
    expect(await ping(undefined, PROXY)).toEqual(taken)
  })

  it('does not listen to what others say', async () => {
    expect(await ping('http', '10.0.0.11')).toEqual(taken)
    expect(await ping('http', PROXY, await prepareApi())).toEqual(taken)
  })
})
