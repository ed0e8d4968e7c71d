import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { beginAttempt } from '../../src/deliveries/begin-attempt.ts'
import { switchAsStaff } from '../../src/endpoints/switch-endpoint.ts'
import { insertLead, leadIds } from '../../src/leads/new-lead.ts'
import { sealing } from '../../src/seal.ts'
import type { Sql } from '../../src/database/sql.ts'
import { putEndpoints } from '../support/endpoint-states.ts'
import { LEAD } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'
import { testKeys } from '../support/test-keys.ts'

const HOUR_MS = 60 * 60 * 1000
/** What a busy machine may add, far below the hour that a clock is off. */
const SLACK_MS = 10_000

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
    for (const { createdAt } of places) expect(differenceMs(createdAt, now)).toBeLessThan(SLACK_MS)
  })

  it('are left unused after a second, so that none brings an old time along', async () => {
    let elapsedMs = 0
    const take = leadIds(sql, () => elapsedMs)
    const [first] = [await take(), await take()]
    elapsedMs = HOUR_MS
    const { leadId, createdAt } = await take()
    expect(leadId).toBeGreaterThan((first?.leadId ?? 0) + 2)
    expect(differenceMs(createdAt, Date.now())).toBeLessThan(SLACK_MS)
  })

  it('leave the first webhook due at once, though their time may be ahead of PostgreSQL’s', async () => {
    const { sql: own, partnerId } = await openDatabase()
    await switchAsStaff(own, partnerId, {
      url: 'https://lender.example',
      secret: sealing('unused', testKeys),
    })
    await putEndpoints(own, 'active')
    const { leadId } = await leadIds(own)()
    const ahead = { leadId, createdAt: new Date(Date.now() + HOUR_MS) }
    await insertLead({ sql: own, encryptionKeys: testKeys }, ahead, partnerId, LEAD, () => 'body')
    const first = { leadId, sequence: 1, trigger: 'scheduled' as const }
    expect(await beginAttempt(own, first, testKeys, () => true)).toMatchObject({ kind: 'send' })
  })
})
