import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { switchAsStaff } from '../../src/endpoints/switch-endpoint.ts'
import type { Sql } from '../../src/database/sql.ts'
import { revokeKey } from '../../src/partners/keys.ts'
import type { DemoPartner } from '../../src/embedded/data-directory.ts'
import { provideDemoPartner, secretsOf } from '../../src/embedded/demo-partner.ts'
import { openDatabase } from '../support/open-database.ts'
import { testKeys } from '../support/test-keys.ts'

const endpointUrl = 'http://127.0.0.1:3100/webhooks'

describe('the demo partner', () => {
  let sql: Sql
  let first: DemoPartner

  beforeAll(async () => {
    ;({ sql } = await openDatabase())
  })

  beforeEach(async () => {
    first = await provide(undefined)
  })

  const provide = (previous: DemoPartner | undefined, url = endpointUrl) =>
    provideDemoPartner(sql, previous, { endpointUrl: url, encryptionKeys: testKeys })

  const urlOf = async ({ partnerId }: DemoPartner) =>
    (await sql.selectFrom('endpoints').select('url').where('partner_id', '=', partnerId).executeTakeFirst())
      ?.url

  it('stays the same from start to start, and its endpoint follows the receiver', async () => {
    expect(await provide(first)).toEqual(first)
    const moved = 'http://127.0.0.1:3101/webhooks'
    const [secret] = await secretsOf(sql, endpointUrl, testKeys)
    expect(await provide(first, moved)).toEqual({ ...first, endpointUrl: moved })
    expect(await secretsOf(sql, moved, testKeys)).toEqual([secret])
  })

  it('keeps the endpoint that a tester has given it', async () => {
    const url = 'http://127.0.0.1:4000/webhooks'
    await switchAsStaff(sql, first.partnerId, { url, secret: () => 'x' })
    expect(await provide(first)).toEqual(first)
    expect(await urlOf(first)).toBe(url)
  })

  it('is another one when its key was revoked, or is of another database', async () => {
    await revokeKey(sql, first.key)
    expect((await provide(first)).partnerId).not.toBe(first.partnerId)
    const stranger = await provide({ ...first, key: 'prs_test_of_another_database' })
    expect(stranger.partnerId).not.toBe(first.partnerId)
    expect(await urlOf(stranger)).toBe(endpointUrl)
  })
})
