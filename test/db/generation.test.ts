import { beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import { isReachable, connect, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { listRestores } from '../../src/capabilities/restore/statements/restores.ts'
import { noteAlive } from '../../src/core/record/statements/alive.ts'
import { atEnd } from '../support/at-end.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'
import { until } from '../support/until.ts'

describe('the generation of the record', () => {
  let sql: Sql
  let url: string
  let partnerId: number

  beforeEach(async () => {
    ;({ sql, url, partnerId } = await openDatabase())
    await requireDeployment(sql, 'sandbox')
    await connectAnew()
  })

  /** As another process does, or this one after a failover. */
  async function connectAnew(): Promise<void> {
    const orm = await connect(url)
    atEnd(() => orm.close())
    await isReachable(sqlOf(orm))
  }
  const generation = async () =>
    (await sql.selectFrom('deployment').select('generation').executeTakeFirstOrThrow()).generation
  const newLead = () => sql.transaction().execute((trx) => insertLead(trx, partnerId, LEAD, () => '{}'))

  it('stays as it is in the same cluster', async () => {
    const before = await generation()
    await Promise.all([connectAnew(), connectAnew()])
    expect(await generation()).toBe(before)
    // in seconds, so that a record which begins anew has another one
    expect(before).toBeGreaterThan(28_000_000)
    expect(await listRestores(sql)).toEqual([])
  })

  /** So many at a time: they stay open. */
  const holdConnections = async (count: number): Promise<void> =>
    sql.connection().execute(async () => (count > 1 ? holdConnections(count - 1) : undefined))

  it('is noted for the first time by one session, and the others lock nothing', async () => {
    // a connection that is opened notes it, too
    await holdConnections(4)
    await sql.updateTable('deployment').set({ system_identifier: null, timeline: null }).execute()
    const note = (connection: Sql) => raw`select note_cluster()`.execute(connection)
    const noted = Promise.withResolvers<void>()
    const committed = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const first = sql.transaction().execute(async (trx) => {
      await note(trx)
      noted.resolve()
      await committed.promise
    })
    await noted.promise
    // somebody who records
    const recording = sql.transaction().execute(async (trx) => {
      await raw`lock table leads in row share mode`.execute(trx)
      await ended.promise
    })
    const second = note(sql)
    await until(async () => {
      const { rows } = await raw`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(sql)
      return rows.length === 1
    })
    committed.resolve()
    const bothNoted = Promise.all([first, second]).then(() => 'noted')
    expect(await Promise.race([bothNoted, recording])).toBe('noted')
    ended.resolve()
    await recording
  })

  it.each([
    ['timeline', raw`timeline = timeline - 1`],
    ['system_identifier', raw`system_identifier = '7000000000000000000'`],
  ])('is raised once, by whoever connects first, when the %s is another one', async (cause, change) => {
    await noteAlive(sql)
    const before = await generation()
    await raw`update deployment set ${change}`.execute(sql)
    await Promise.all([connectAnew(), connectAnew(), connectAnew()])
    const raised = await generation()
    expect(raised).toBeGreaterThan(before)
    expect(await listRestores(sql)).toEqual([
      {
        generation: raised,
        at: expect.any(Date),
        cause,
        reached_until: expect.any(Date),
        finished_at: null,
        seen_at: null,
      },
    ])
  })

  it('leaves out ids of every table, so that none is given again', async () => {
    const before = await newLead()
    await raw`update deployment set timeline = timeline - 1`.execute(sql)
    await connectAnew()
    expect(await newLead()).toBe(before + 1_000_001)
    const { rows } = await raw<{
      id: number
    }>`insert into partners (name) values ('Next') returning id`.execute(sql)
    expect(rows[0]?.id).toBe(partnerId + 1001)
  })

  it('counts seconds, so that one which the record forgot is not given again', async () => {
    const seconds = () => Math.floor((Date.now() - Date.UTC(2026, 0)) / 1000)
    await raw`update deployment set timeline = timeline - 1`.execute(sql)
    const before = seconds()
    await connectAnew()
    expect(await generation()).toBeGreaterThanOrEqual(before)
    expect(await generation()).toBeLessThanOrEqual(seconds() + 3)
  })
})
