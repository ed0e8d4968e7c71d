import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { Registry } from 'prom-client'
import { type Orm, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { addPartner } from '../../src/core/partners/statements/partner.ts'
import { runRetention } from '../../src/capabilities/retention/statements/runs.ts'
import { keepRetention } from '../../src/capabilities/retention/retention-loop.ts'
import { createLogger } from '../../src/logger.ts'
import { confirm, runNow } from '../../src/capabilities/retention/commands/retention.ts'
import { auditOf, contextOf, withoutTemporal } from '../staff/context.ts'
import { temporaryFolder } from '../support/folder.ts'
import { fillEndedLeads } from '../support/ended-leads.ts'
import { KEEP_ALL, ownedDatabase, retainedAs } from '../support/retention.ts'
import { until } from '../support/until.ts'

const LIMITS = {
  ...KEEP_ALL,
  RETENTION_LEADS_DAYS: 730,
  RETENTION_ATTEMPTS_DAYS: 30,
  RETENTION_LEADS_MOST_A_DAY: 50,
}
const TWO_YEARS_MS = 2 * 365 * 86_400_000

describe('the brakes of retention', () => {
  let owner: Orm
  let sql: Sql
  let url: string
  let settings: typeof LIMITS & { ERASURE_JOURNAL: string }
  let partnerId: number

  beforeAll(async () => {
    ;({ url, owner, sql } = await ownedDatabase())
    settings = { ...LIMITS, ERASURE_JOURNAL: temporaryFolder() }
  })

  beforeEach(async () => {
    await raw`truncate leads, attempts, retention_runs restart identity cascade`.execute(sqlOf(owner))
    ;({ id: partnerId } = await addPartner(owner.em.fork(), { name: 'First Lender' }))
  })

  const fill = (count: number, daysAgo: number) => fillEndedLeads(sql, partnerId, count, daysAgo)
  const erased = async () =>
    (await sql.selectFrom('leads').select('id').where('erased_at', 'is not', null).execute()).length
  const run = (options: { now?: () => number; config?: typeof settings } = {}, name = 'leads') =>
    runRetention({ sql, config: settings, ...options }, retainedAs(name))
  const twoYearsEarlier = () => Date.now() - TWO_YEARS_MS

  it('erases and deletes nothing while the clock of PostgreSQL is two years ahead', async () => {
    await fill(5, 731)
    await expect(run({ now: twoYearsEarlier })).rejects.toThrow(
      /^PostgreSQL’s clock is 1051200 minutes ahead/,
    )
    await expect(run({ now: twoYearsEarlier }, 'attempts')).rejects.toThrow('ahead')
    await expect(run({ now: () => Date.now() + 360_000 })).rejects.toThrow(
      /^PostgreSQL’s clock is 6 minutes behind/,
    )
    expect(await erased()).toBe(0)
    expect(await run({ now: () => Date.now() + 240_000 })).toBe(5)
  })

  it('erases nothing of what is more than a day’s most, even in part', async () => {
    await fill(51, 731)
    await fill(1500, 1)
    await expect(run()).rejects.toThrow(
      /^Retention would erase 51 leads within 24 hours, and 50 are the most/,
    )
    expect(await erased()).toBe(0)
    expect(await run({ config: { ...settings, RETENTION_LEADS_MOST_A_DAY: 51 } })).toBe(51)
  })

  it('erases at most a twentieth of the leads, if that is less', async () => {
    await fill(21, 731)
    await fill(379, 1)
    await expect(run()).rejects.toThrow('and 20 are the most')
    await raw`update leads set closed_at = now() where id = (select min(id) from leads)`.execute(sql)
    expect(await run()).toBe(20)
  })

  it('counts what was erased within 24 hours before', async () => {
    await fill(30, 731)
    await fill(1500, 1)
    expect(await run()).toBe(30)
    await fill(25, 731)
    await expect(run()).rejects.toThrow('would erase 55 leads')
    await raw`update erasures set erased_at = erased_at - interval '25 hours'`.execute(sql)
    expect(await run()).toBe(25)
  })

  it('goes on once staff have confirmed it, up to what they confirmed', async () => {
    await fill(120, 731)
    const context = await contextOf({ ...withoutTemporal(url), ERASURE_JOURNAL: settings.ERASURE_JOURNAL })
    await expect(runNow(context, [retainedAs('leads')])).rejects.toThrow(
      'if they are to be erased: npm run staff -- retention confirm 120',
    )
    await confirm(context, retainedAs('leads'), 100)
    await expect(run()).rejects.toThrow('and 110 are the most')
    expect((await confirm(context, retainedAs('leads'), 120)).json).toMatchObject({ most: 120 })
    // as time passes
    await fill(3, 731)
    expect(await run()).toBe(123)
    expect(await auditOf(context)).toContainEqual(
      expect.objectContaining({ action: 'retention.confirm', detail: { class: 'leads', most: 120 } }),
    )
    await fill(8, 731)
    await expect(run()).rejects.toThrow('would erase 131 leads within 24 hours, and 130 are the most')
    await context.close()
  })

  it('is counted and logged by a worker, which goes on with the other classes', async () => {
    await fill(60, 731)
    const log = createLogger('silent', 'worker')
    const registry = new Registry()
    const stopping = new AbortController()
    const retained = ['leads', 'attempts'].map(retainedAs)
    const loop = keepRetention({ sql, config: settings, retained, registry, log, signal: stopping.signal })
    const metric = () => registry.getSingleMetricAsString('referrals_retention_held')
    await until(async () => !(await metric()).includes('{reason="ceiling"} 0'))
    const hasRun = () =>
      sql.selectFrom('retention_runs').select('class').where('ran_at', 'is not', null).execute()
    await until(async () => (await hasRun()).length > 0)
    stopping.abort()
    await loop
    expect(await metric()).toMatch(/^referrals_retention_held\{reason="ceiling"\} 1$/m)
    expect(await hasRun()).toEqual([{ class: 'attempts' }])
    expect(await erased()).toBe(0)
  })

  it('says after each batch that it goes on, in a run that takes hours', async () => {
    const stopping = new AbortController()
    let said = 0
    const before: number[] = []
    const long: ReturnType<typeof retainedAs> = {
      ...retainedAs('idempotency_keys'),
      async remove() {
        before.push(said)
        return { removed: 1, isLast: before.length === 3 }
      },
    }
    await keepRetention({
      sql,
      config: settings,
      retained: [long],
      registry: new Registry(),
      log: createLogger('silent', 'worker'),
      signal: stopping.signal,
      watchLoop: () => () => {
        said += 1
        if (before.length === 3) stopping.abort()
      },
    })
    expect(before).toEqual([0, 1, 2])
  })

  it('of one class that fails holds up no other, and is told of', async () => {
    const stopping = new AbortController()
    const failing: ReturnType<typeof retainedAs> = {
      ...retainedAs('idempotency_keys'),
      remove: () => Promise.reject(new Error('the disk is full')),
    }
    const told: unknown[] = []
    const log = createLogger('silent', 'worker')
    log.warn = (fields: unknown) => void told.push(fields)
    const classes = [failing, retainedAs('attempts')]
    const registry = new Registry()
    const loop = keepRetention({
      sql,
      config: settings,
      retained: classes,
      registry,
      log,
      signal: stopping.signal,
    })
    await until(async () => told.length > 0)
    stopping.abort()
    await loop
    expect(told).toEqual([{ class: 'idempotency_keys', err: new Error('the disk is full') }])
    const ran = sql.selectFrom('retention_runs').select('class').where('ran_at', 'is not', null)
    expect(await ran.execute()).toEqual([{ class: 'attempts' }])
  })
})
