import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { leadIds } from '../../src/core/leads/statements/ids.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import { openDatabase } from '../support/open-database.ts'

const HOUR_MS = 60 * 60 * 1000
const SECOND_MS = 1000

describe('the ids of new leads, in blocks', () => {
  let sql: Sql

  beforeAll(async () => {
    ;({ sql } = await openDatabase())
  })

  afterEach(() => void jest.restoreAllMocks())

  /** The same machine runs PostgreSQL: its clock is ours. */
  const differenceMs = (createdAt: Date, now: number) => Math.abs(createdAt.getTime() - now)

  it('come with PostgreSQL’s time, also after a step of this host’s clock', async () => {
    const take = leadIds(sql)
    for (let taken = 0; taken < 4; taken += 1) await take()
    const now = Date.now()
    jest.spyOn(Date, 'now').mockImplementation(() => now + HOUR_MS)
    const places = [await take(), await take(), await take(), await take()]
    for (const { createdAt } of places) expect(differenceMs(createdAt, now)).toBeLessThan(SECOND_MS)
  })

  it('are left unused after a second, so that none brings an old time along', async () => {
    let elapsedMs = 0
    const take = leadIds(sql, () => elapsedMs)
    const [first] = [await take(), await take()]
    elapsedMs = HOUR_MS
    const { leadId, createdAt } = await take()
    expect(leadId).toBeGreaterThan((first?.leadId ?? 0) + 2)
    expect(differenceMs(createdAt, Date.now())).toBeLessThan(SECOND_MS)
  })

  it.each([200, 2000])(
    'come with no time before PostgreSQL’s, though its reply took %d ms',
    async (delayMs) => {
      let elapsedMs = 0
      let postgresAt = 0
      const slow = sql.withPlugin({
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          postgresAt = (result.rows as { now: Date }[])[0]!.now.getTime()
          elapsedMs += delayMs
          return result
        },
      })
      const take = leadIds(slow, () => elapsedMs)
      for (let taken = 0; taken < 4; taken += 1) {
        const { createdAt } = await take()
        expect(createdAt.getTime() - postgresAt).toBe(delayMs)
      }
    },
  )

  it('can be taken in a transaction', async () => {
    const { leadId } = await sql.transaction().execute((trx) => leadIds(trx)())
    expect(leadId).toBeGreaterThan(0)
  })

  it('are each given once to all who ask at the same time', async () => {
    const take = leadIds(sql)
    const places = await Promise.all(Array.from({ length: 200 }, () => take()))
    expect(new Set(places.map(({ leadId }) => leadId)).size).toBe(200)
  })
})
