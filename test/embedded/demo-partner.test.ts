import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { setEndpoint } from '../../src/core/endpoints/statements/endpoint.ts'
import type { Orm, Sql } from '../../src/core/database/orm.ts'
import { findKeyOwner, hashOf, revokeKey } from '../../src/core/partners/statements/keys.ts'
import type { DemoPartner } from '../../src/embedded/data-directory.ts'
import { moveSinks, provideSink } from '../../src/capabilities/sandbox/statements/sinks.ts'
import { sealing } from '../../src/core/sealing/seal.ts'
import { generateSecret } from '../../src/core/deliveries/webhooks/secrets.ts'
import { provideDemoPartner } from '../../src/embedded/demo-partner.ts'
import { openDatabase } from '../support/open-database.ts'
import { testKeys } from '../support/test-keys.ts'

const endpointUrl = 'http://127.0.0.1:3100/webhooks'

describe('the demo partner', () => {
  let orm: Orm
  let sql: Sql
  let first: DemoPartner
  const reported: string[] = []

  beforeAll(async () => {
    ;({ orm, sql } = await openDatabase())
  })

  beforeEach(async () => {
    reported.length = 0
    first = (await provide(undefined)).demo
  })

  const provide = (previous: DemoPartner | undefined, url = endpointUrl) =>
    provideDemoPartner(orm, {
      previous,
      endpointUrl: url,
      encryptionKeys: testKeys,
      report: (line) => reported.push(line),
    })

  it('stays the same from start to start, and its endpoint follows the receiver', async () => {
    expect(await provide(first)).toEqual({ demo: first, webhooksTo: endpointUrl })
    const moved = 'http://127.0.0.1:3101/webhooks'
    expect(await provide(first, moved)).toEqual({
      demo: { ...first, endpointUrl: moved },
      webhooksTo: moved,
    })
    expect(reported).toEqual([])
  })

  it('keeps the endpoint that a tester has given it, and says where its webhooks go', async () => {
    const url = 'http://127.0.0.1:4000/webhooks'
    await setEndpoint(sql, first.partnerId, { url, secret: () => 'x' })
    expect(await provide(first)).toEqual({ demo: first, webhooksTo: url })
  })

  it.each([
    ['was revoked', (key: string) => revokeKey(sql, key)],
    [
      'has expired',
      (key: string) =>
        sql
          .updateTable('api_keys')
          .set({ expires_at: new Date(0) })
          .where('hash', '=', hashOf(key))
          .execute(),
    ],
  ])('gets another key when its key %s, and is no second partner', async (why, end) => {
    await end(first.key)
    const { demo } = await provide(first)
    expect(demo).toEqual({ ...first, key: expect.stringMatching(/^prs_test_/) })
    expect(await findKeyOwner(sql, hashOf(demo.key))).toMatchObject({ partnerId: first.partnerId })
    expect(reported).toEqual([`The demo partner’s key ${why}: it has a new one.`])
  })

  it('is another one in a database that has none of its keys', async () => {
    const { demo } = await provide({ ...first, key: 'prs_test_of_another_database' })
    expect(demo.partnerId).not.toBe(first.partnerId)
  })

  it('keeps its sink when the API has another port than before, and others their endpoints', async () => {
    const token = await provideSink(sql, first.partnerId)
    const secret = sealing(generateSecret(), testKeys)
    const urlAfter = async (url: string) => {
      await setEndpoint(sql, first.partnerId, { url, secret })
      await moveSinks(sql, 'http://127.0.0.1:3000/v1')
      return (await provide(first)).webhooksTo
    }
    const sink = `/v1/sandbox/sinks/${token}`
    expect(await urlAfter(`http://127.0.0.1:3001${sink}`)).toBe(`http://127.0.0.1:3000${sink}`)
    const own = `http://127.0.0.1:3001${sink}s`
    expect(await urlAfter(own)).toBe(own)
  })
})
