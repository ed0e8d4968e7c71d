import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import type { Sql } from '../../src/core/database/orm.ts'
import { keepForgetting } from '../../src/core/leads/forgetting-loop.ts'
import { createLogger } from '../../src/logger.ts'
import { openDatabase } from '../support/open-database.ts'
import { holdRow } from '../support/row-lock.ts'
import { until } from '../support/until.ts'

describe('the addresses that were mailed', () => {
  let sql: Sql
  let partnerId: number

  beforeAll(async () => {
    ;({ sql, partnerId } = await openDatabase())
    await raw`insert into onboarding_mails (lead_id, partner_id, address_hash, claimed_at) values
      (1, ${partnerId}, 'a', now() - interval '25 hours'), (2, ${partnerId}, 'b', now() - interval '25 hours'),
      (3, ${partnerId}, 'c', now() - interval '23 hours')`.execute(sql)
  })

  const remembered = async () => {
    const rows = await sql
      .selectFrom('onboarding_mails')
      .select('lead_id')
      .where('address_hash', 'is not', null)
      .orderBy('lead_id')
      .execute()
    return rows.map(({ lead_id: leadId }) => leadId)
  }

  it('are forgotten by a worker after a day, without waiting for another worker that does so', async () => {
    const other = await holdRow(sql, 'onboarding_mails', 'lead_id = 1')
    const stopping = new AbortController()
    const loop = keepForgetting({ sql, log: createLogger('silent', 'worker'), signal: stopping.signal })
    await until(async () => (await remembered()).length === 2)
    expect(await remembered()).toEqual([1, 3])
    stopping.abort()
    await loop
    await other.release()
  })
})
