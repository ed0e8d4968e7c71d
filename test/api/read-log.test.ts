import { beforeAll, describe, expect, it } from '@jest/globals'
import { createReadLog } from '../../src/core/audit/read-log.ts'
import { type AgedRead, insertKeyReads } from '../../src/core/audit/statements/write-reads.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import { openDatabase } from '../support/open-database.ts'
import { partnerCalls, prepareService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type Api, type ApiPartner, prepareApi } from './api.ts'
import { createAndRead } from './many-reads.ts'

const readsIn = (sql: Sql) =>
  sql
    .selectFrom('personal_reads')
    .select(['lead_id', 'partner_id', 'key_id', 'what', 'at'])
    .orderBy('at')
    .execute()

describe('a read of personal data by API', () => {
  let api: Api
  let partner: ApiPartner
  let stranger: ApiPartner

  beforeAll(async () => {
    api = await prepareApi()
    ;[partner, stranger] = [await api.addPartner(), await api.addPartner()]
  })

  it('leaves key, lead and time within a second, and what returned nothing leaves none', async () => {
    const lead = await partner.createLead()
    expect((await stranger.post('get-lead', { lead_id: lead })).status).toBe(404)
    for (const call of ['get-events', 'get-deliveries']) await partner.post(call, { lead_id: lead })
    await partner.post('list-leads', {})
    const before = Date.now()
    await partner.readLead(lead)
    const after = Date.now()
    const reads = await until(async () => {
      const found = await readsIn(api.sql)
      return found.length > 0 && found
    })
    expect(reads).toEqual([
      {
        lead_id: lead,
        partner_id: partner.id,
        key_id: partner.keyId,
        what: 'get-lead',
        at: expect.any(Date),
      },
    ])
    expect(Number(reads[0]?.at)).toBeGreaterThan(before - 1000)
    expect(Number(reads[0]?.at)).toBeLessThan(after + 5000)
  })
})

describe('an API process that stops', () => {
  it('writes what is left first', async () => {
    const service = await prepareService()
    const { id, key } = await service.addPartner()
    const api = await service.startApi()
    const calls = partnerCalls(api.port, key)
    const lead = await createAndRead(calls, 50)
    expect(await api.stop()).toBe(0)
    const reads = await readsIn(service.sql)
    expect(reads).toHaveLength(50)
    expect(reads[0]).toMatchObject({ lead_id: lead, partner_id: id, what: 'get-lead' })
  })
})

describe('reads that come while others are written', () => {
  const read = (leadId: number) => ({ leadId, partnerId: 1, keyId: 7, what: 'get-lead' as const })
  const silent = { warn: () => {}, error: () => {}, info: () => {} }

  it('wait for the next time, with those that come after it', async () => {
    const batches: number[][] = []
    const write = async (batch: AgedRead[]) => {
      batches.push(batch.map(({ leadId }) => leadId))
      if (batches.length > 1) return
      reads.note(read(2))
      setTimeout(() => reads.note(read(3)), 10)
    }
    const reads = createReadLog({ write, log: silent, everyMs: 200 })
    reads.note(read(1))
    await until(async () => batches.flat().length === 3)
    expect(batches).toEqual([[1], [2, 3]])
  })
})

describe('reads that cannot be written', () => {
  let sql: Sql
  const lines: unknown[] = []
  const line = (...args: unknown[]) => void lines.push(args)
  const log = { warn: line, error: line, info: line }
  const read = (leadId: number) => ({ leadId, partnerId: 1, keyId: 7, what: 'get-lead' as const })

  beforeAll(async () => {
    ;({ sql } = await openDatabase())
  })

  it('are kept, the newest if there are too many, and written with their time', async () => {
    let isAway = true
    const ages: number[] = []
    const write = async (reads: AgedRead[]) => {
      if (isAway) throw new Error('PostgreSQL is away')
      ages.push(...reads.map(({ ageMs }) => ageMs))
      await insertKeyReads(sql, reads)
    }
    const reads = createReadLog({ write, log, everyMs: 10, mostKept: 3 })
    reads.note(read(1))
    await until(async () => lines.length === 1)
    const noted = Date.now()
    // a batch more than are kept
    for (let lead = 2; lead <= 5003; lead += 1) reads.note(read(lead))
    const last = performance.now()
    await until(async () => lines.length === 2)
    const keptMs = performance.now() - last
    isAway = false
    await until(async () => lines.length === 3)
    const written = await readsIn(sql)
    expect(written.map((row) => row.lead_id).toSorted((one, other) => one - other)).toEqual([
      5001, 5002, 5003,
    ])
    for (const { at } of written) expect(Math.abs(at.getTime() - noted)).toBeLessThan(5000)
    for (const age of ages) expect(age).toBeGreaterThanOrEqual(keptMs)
    expect(lines).toEqual([
      [{ err: new Error('PostgreSQL is away') }, 'reads of personal data are not written yet: they are kept'],
      [{ dropped: 5000 }, 'reads of personal data are lost: PostgreSQL was away for too long'],
      ['reads of personal data are written again'],
    ])
  })

  it('have the time at which they were noted, however late they are written', async () => {
    const before = Date.now()
    await insertKeyReads(sql, [{ ...read(6000), ageMs: 60_000 }])
    const after = Date.now()
    const at = (await readsIn(sql)).find((row) => row.lead_id === 6000)?.at.getTime()
    expect(at).toBeGreaterThanOrEqual(before - 60_001)
    expect(at).toBeLessThanOrEqual(after - 59_999)
  })

  it('are counted as lost when the process has to stop without them', async () => {
    lines.length = 0
    const write = () => Promise.reject(new Error('PostgreSQL is away'))
    const reads = createReadLog({ write, log, closeMs: 300 })
    for (let lead = 1; lead <= 4; lead += 1) reads.note(read(lead))
    await reads.close()
    expect(lines.at(-1)).toEqual([
      { dropped: 4 },
      'reads of personal data are lost: PostgreSQL was away for too long',
    ])
  })
})
