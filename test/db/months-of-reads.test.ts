import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { Registry } from 'prom-client'
import { keepRetention } from '../../src/capabilities/retention/retention-loop.ts'
import { runRetention } from '../../src/capabilities/retention/statements/runs.ts'
import { reportReads } from '../../src/capabilities/access/statements/reads-report.ts'
import { makeMonthsOfReads } from '../../src/core/audit/statements/months-of-reads.ts'
import { insertKeyReads, insertStaffRead } from '../../src/core/audit/statements/write-reads.ts'
import { isLockTimeout } from '../../src/core/database/database-away.ts'
import type { Orm, Sql } from '../../src/core/database/orm.ts'
import { addPartner } from '../../src/core/partners/statements/partner.ts'
import { createLogger } from '../../src/logger.ts'
import { retained } from '../../src/retained.ts'
import { insertLead } from '../support/insert-lead.ts'
import { dumping } from '../support/dumping.ts'
import { LEAD } from '../support/leads.ts'
import { dropMonths, makePastMonth, monthsOfReads } from '../support/months-of-reads.ts'
import { KEEP_ALL, ownedDatabase, retainedAs } from '../support/retention.ts'
import { locksOf } from '../support/table-locks.ts'
import { until } from '../support/until.ts'

const RETENTION_READS_DAYS = 400
const settings = { ...KEEP_ALL, RETENTION_READS_DAYS, ERASURE_JOURNAL: '' }

/** The first moment of the month that is so many months ahead. */
const monthAhead = (months: number) => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months))
}
const nameOf = (month: Date) => `personal_reads_${month.toISOString().slice(0, 7).replace('-', '_')}`
const aboutNow = [-1, 0, 1, 2, 3].map((months) => nameOf(monthAhead(months)))

describe('the months of reads', () => {
  let owner: Orm
  let sql: Sql
  let ownerSql: Sql
  let ownerUrl: string
  let partnerId: number

  beforeAll(async () => {
    ;({ owner, ownerUrl, ownerSql, sql } = await ownedDatabase())
    ;({ id: partnerId } = await addPartner(owner.em.fork(), { name: 'First Lender' }))
  })

  beforeEach(async () => {
    await dropMonths(ownerSql)
    await makeMonthsOfReads(sql)
    await raw`truncate retention_runs`.execute(ownerSql)
  })

  const read = { leadId: 7, partnerId: 1, keyId: 1, what: 'get-lead' as const }
  const count = async () => (await sql.selectFrom('personal_reads').select('id').execute()).length
  const run = () => runRetention({ sql, config: settings }, retainedAs('reads'))

  /** Leaves a read of each of these times, in its month. */
  async function readAt(...times: Date[]): Promise<void> {
    for (const at of times) {
      await makePastMonth(ownerSql, at)
      await raw`insert into personal_reads (at, lead_id, partner_id, key_id, what)
        values (${at}, 7, 1, 1, 'get-lead')`.execute(ownerSql)
    }
  }

  it('reach from the last to the third from now, by whoever makes them, once', async () => {
    expect(await monthsOfReads(sql)).toEqual(aboutNow)
    await dropMonths(ownerSql)
    await Promise.all(Array.from({ length: 8 }, () => makeMonthsOfReads(sql)))
    expect(await monthsOfReads(sql)).toEqual(aboutNow)
  })

  it('are made by a read where nobody has made them for long, of a key or of staff', async () => {
    const leadId = await insertLead(sql, partnerId, LEAD, () => '{}')
    await dropMonths(ownerSql)
    await Promise.all([1, 2, 3].map(() => insertKeyReads(sql, [{ ...read, ageMs: 0 }])))
    expect(await count()).toBe(3)
    await dropMonths(ownerSql)
    await insertStaffRead(sql, { leadId, staff: 'ada', osUser: 'ada', what: 'lead show' })
    expect(await count()).toBe(1)
    expect(await monthsOfReads(sql)).toEqual(aboutNow)
  })

  it('are attached again where somebody has detached one that is in use', async () => {
    await readAt(monthAhead(0))
    await raw`alter table personal_reads detach partition ${raw.table(nameOf(monthAhead(0)))}`.execute(
      ownerSql,
    )
    await insertKeyReads(sql, [{ ...read, ageMs: 0 }])
    expect(await count()).toBe(2)
  })

  it('take reads that waited for weeks to be written', async () => {
    const ageMs = 24 * 86_400_000
    await insertKeyReads(sql, [{ ...read, ageMs }])
    expect(await count()).toBe(1)
  })

  it('are not blamed for a read that a check refuses', async () => {
    const refused = insertKeyReads(sql, [{ ...read, what: 'nothing' as 'get-lead', ageMs: 0 }])
    await expect(refused).rejects.toThrow('personal_reads_what_check')
  })

  it('are not to be read or changed by the service itself, nor made where it wants', async () => {
    const [, month = ''] = aboutNow
    for (const statement of [
      `select from ${month}`,
      `insert into ${month} (lead_id, partner_id, key_id, what) values (1, 1, 1, 'get-lead')`,
      `update ${month} set key_id = 2`,
      `delete from ${month}`,
      `drop table ${month}`,
      `alter table personal_reads detach partition ${month}`,
      "create table more partition of personal_reads for values from ('2001-01-01') to ('2001-02-01')",
    ])
      await expect(raw.raw(statement).execute(sql)).rejects.toThrow(/permission denied|must be owner/)
  })

  it('are dropped when they are old from their first day to their last, and no sooner', async () => {
    const limit = Date.now() - RETENTION_READS_DAYS * 86_400_000
    const monthOfLimit = new Date(limit)
    const first = Date.UTC(monthOfLimit.getUTCFullYear(), monthOfLimit.getUTCMonth())
    const lastOfOld = new Date(first - 1)
    await readAt(new Date('2019-05-17T00:00:00Z'), lastOfOld, new Date(first), monthAhead(0))
    const { rows, oldest } = await retainedAs('reads').count(sql, RETENTION_READS_DAYS)
    expect({ rows, oldest }).toEqual({ rows: 2, oldest: new Date('2019-05-17T00:00:00Z') })
    expect(await run()).toBe(2)
    expect(await monthsOfReads(sql)).toEqual([nameOf(new Date(first)), ...aboutNow])
    expect(await count()).toBe(2)
    expect(await run()).toBe(0)
  })

  it('give way to whoever reads them, while reads are written, and are dropped after', async () => {
    await readAt(new Date('2019-05-17T00:00:00Z'))
    const dump = await dumping(ownerUrl, 'personal_reads')
    const began = performance.now()
    const failed = run().then(
      () => undefined,
      (error: unknown) => error,
    )
    await insertKeyReads(sql, [{ ...read, ageMs: 0 }])
    expect(isLockTimeout(await failed)).toBe(true)
    expect(performance.now() - began).toBeLessThan(5000)
    await dump.end()
    expect(await run()).toBe(1)
    expect(await monthsOfReads(sql)).toEqual(aboutNow)
  })

  async function loop(config: typeof settings, isDone: () => Promise<boolean>): Promise<void> {
    const stopping = new AbortController()
    const log = createLogger('silent', 'worker')
    const looping = keepRetention({
      sql,
      config: { ...config },
      retained,
      registry: new Registry(),
      log,
      signal: stopping.signal,
    })
    await until(isDone)
    stopping.abort()
    await looping
  }
  const hasRun = async (name: string) =>
    (
      await sql
        .selectFrom('retention_runs')
        .select('class')
        .where('class', '=', name)
        .where('ran_at', 'is not', null)
        .execute()
    ).length > 0

  it('keep no other class waiting while somebody reads them', async () => {
    await readAt(new Date('2019-05-17T00:00:00Z'))
    const dump = await dumping(ownerUrl, 'personal_reads')
    await loop(settings, () => hasRun('idempotency_keys'))
    expect(await hasRun('reads')).toBe(false)
    await dump.end()
    await loop(settings, () => hasRun('reads'))
    expect(await monthsOfReads(sql)).toEqual(aboutNow)
  })

  it('are made by the worker though reads are kept forever', async () => {
    await dropMonths(ownerSql)
    const isMade = async () => (await monthsOfReads(sql)).length === aboutNow.length
    await loop({ ...settings, RETENTION_READS_DAYS: null as unknown as number }, isMade)
    expect(await monthsOfReads(sql)).toEqual(aboutNow)
    expect(await hasRun('reads')).toBe(false)
  })

  it('are passed over by a report of later ones', async () => {
    await readAt(new Date('2019-05-17T00:00:00Z'))
    const isRead = async (from?: Date) => {
      let locks: unknown[] = []
      await reportReads(sql, { keyId: 1, ...(from && { from }) }, async () => {
        ;({ rows: locks } = await raw`select from ${locksOf('personal_reads_2019_05')}`.execute(ownerSql))
      })
      return locks.length > 0
    }
    expect(await isRead()).toBe(true)
    expect(await isRead(monthAhead(0))).toBe(false)
  })
})
