import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { issueKey } from '../../src/core/partners/statements/keys.ts'
import { until } from '../support/until.ts'
import { type Answer, type Api, prepareApi } from './api.ts'

const OFFICE = '203.0.113.7'
const ELSEWHERE = '198.51.100.9'

describe('a key that is bound to addresses', () => {
  let api: Api
  let partnerId: number
  let bound: { id: number; key: string }
  beforeAll(async () => {
    api = await prepareApi()
  })
  beforeEach(async () => {
    partnerId = (await api.addPartner()).id
    bound = await issueKey(api.orm.em.fork(), partnerId, 'sandbox', ['203.0.113.0/24', '2001:db8:40::/48'])
  })

  const call = (remoteAddress: string, headers: Record<string, string> = {}, on = api): Promise<Answer> =>
    on.send({
      method: 'GET',
      url: '/v1/ping',
      remoteAddress,
      headers: { authorization: `Service-Key ${bound.key}`, ...headers },
    })
  const lastRefusal = () =>
    JSON.parse(api.logged.findLast((line) => line.includes('"authentication"')) ?? '{}').authentication

  it.each([OFFICE, '::ffff:203.0.113.7', '2001:db8:40::9'])('works from %s', async (address) => {
    expect((await call(address)).status).toBe(200)
  })

  it.each([ELSEWHERE, '::ffff:198.51.100.9', '2001:db8:41::9', '127.0.0.1'])(
    'is answered from %s as an unknown key is; the true reason is in the log only',
    async (address) => {
      const refused = await call(address)
      expect(lastRefusal()).toBe(`wrong_address: key ${bound.id}, sent from ${address}`)
      await api.sql.deleteFrom('api_keys').where('id', '=', bound.id).execute()
      // not longer cached than a second
      await until(async () => {
        await call(address)
        return lastRefusal() === 'unknown'
      })
      const unknown = await call(address)
      expect([refused.status, refused.text]).toEqual([401, unknown.text])
      const names = ({ headers }: Answer) => Object.keys(headers).toSorted()
      expect(names(refused)).toEqual(names(unknown))
    },
  )

  it('is refused elsewhere while it is used from its addresses, and still works there', async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      expect((await call(OFFICE)).status).toBe(200)
      expect((await call(ELSEWHERE)).status).toBe(401)
    }
    const [inside, outside] = await Promise.all([call(OFFICE), call(ELSEWHERE)])
    expect([inside.status, outside.status]).toEqual([200, 401])
  })

  it('is not noted as used where it is refused', async () => {
    await call(ELSEWHERE)
    await call(ELSEWHERE)
    const { last_used_at: at } = await api.sql
      .selectFrom('api_keys')
      .select('last_used_at')
      .where('id', '=', bound.id)
      .executeTakeFirstOrThrow()
    expect(at).toBeNull()
  })

  it('counts elsewhere as an invalid key does, and not against its partner', async () => {
    const limited = await prepareApi({ rateLimit: 3 })
    const { id } = await limited.addPartner()
    bound = await issueKey(limited.orm.em.fork(), id, 'sandbox', [OFFICE])
    // known as one that worked lately
    expect((await call(OFFICE, {}, limited)).status).toBe(200)
    const statuses: number[] = []
    for (let count = 0; count < 5; count += 1) statuses.push((await call(ELSEWHERE, {}, limited)).status)
    expect(statuses).toEqual([401, 401, 401, 429, 429])
    expect((await call(OFFICE, {}, limited)).status).toBe(200)
  })

  describe('behind a proxy', () => {
    const PROXY = '10.0.0.1'
    let behind: Api
    beforeAll(async () => {
      behind = await prepareApi({ trustProxy: '10.0.0.0/8' })
    })
    beforeEach(async () => {
      const { id } = await behind.addPartner()
      bound = await issueKey(behind.orm.em.fork(), id, 'sandbox', [OFFICE])
    })
    const through = async (forwarded: string, peer = PROXY) =>
      (await call(peer, { 'x-forwarded-for': forwarded, 'x-forwarded-proto': 'https' }, behind)).status

    it('is bound to the address that the proxy was called from', async () => {
      expect(await through(OFFICE)).toBe(200)
      expect(await through(`10.0.0.9, ${OFFICE}, 10.0.0.2`)).toBe(200)
      expect(await through(`${OFFICE}:50123, 10.0.0.2:443`)).toBe(200)
      expect(await through(ELSEWHERE)).toBe(401)
      expect(await through(`${ELSEWHERE}:443`)).toBe(401)
    })

    it.each([`${OFFICE}, ${ELSEWHERE}`, `${OFFICE}, unknown`, 'unknown', ''])(
      'is refused with X-Forwarded-For: %j, whatever the sender wrote into it',
      async (forwarded) => {
        expect(await through(forwarded)).toBe(401)
      },
    )

    it('is refused with that header from somebody who is no proxy', async () => {
      expect(await through(OFFICE, ELSEWHERE)).not.toBe(200)
    })
  })
})
