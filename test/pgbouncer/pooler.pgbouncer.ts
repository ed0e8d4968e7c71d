import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { workerPatience } from '../../src/core/database/mikro-orm.config.ts'
import { connect, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { alone } from '../../src/core/database/locks/alone.ts'
import { findSessionFaults } from '../../src/core/database/session-faults.ts'
import { atEnd } from '../support/at-end.ts'
import { leadsOf } from '../support/leads.ts'
import { areNamed } from '../support/pooled.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'

const AT_ONCE = 60
/** Of PgBouncer for a database and a role. */
const POOL = 20

describe('behind PgBouncer in transaction mode', () => {
  let service: Service
  let partner: TestPartner
  /** As the programs are connected. */
  let sql: Sql

  beforeAll(async () => {
    service = await prepareService()
    partner = await service.addPartner()
    const orm = await connect(service.environment.DATABASE_URL, workerPatience, {
      connections: AT_ONCE,
      areNamed,
    })
    atEnd(() => orm.close())
    sql = sqlOf(orm)
  })

  const sessions = async () => {
    const { rows } = await raw<{ count: number }>`select count(*)::int as count from pg_stat_activity
      where datname = current_database() and usename = ${new URL(service.environment.DATABASE_URL).username}`.execute(
      service.sql,
    )
    return rows[0]?.count ?? 0
  }

  it('a statement that is used often goes through, whichever connection it gets', async () => {
    const ask = (value: number) =>
      raw<{ value: number }>`select ${value}::int as value, pg_sleep(0.01)`.execute(sql)
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, (_, value) => ask(value)))
      expect(answers.map(({ rows }) => rows[0]?.value)).toEqual(answers.map((_, value) => value))
    }
    expect(await sessions()).toBeGreaterThan(1)
    expect(await sessions()).toBeLessThanOrEqual(POOL)
  })

  it('a job that takes long keeps no connection', async () => {
    const transactions = raw`select from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`
    await alone(sql, 'retention', async () => {
      expect((await transactions.execute(service.sql)).rows).toEqual([])
      expect(await alone(sql, 'retention', async () => 2)).toBe(0)
      return 1
    })
    expect(await alone(sql, 'retention', async () => 3)).toBe(3)
  })

  it('sessions have the limits of the programs, which say so otherwise', async () => {
    expect(await findSessionFaults(sql, workerPatience, POOL)).toEqual([])
    await sql.transaction().execute(async (trx) => {
      await raw`set local lock_timeout = 0`.execute(trx)
      expect(await findSessionFaults(trx, workerPatience, POOL)).toEqual([
        expect.stringMatching(/^PostgreSQL has no lock_timeout for this process, because a pooler drops/),
      ])
    })
  })

  it('leads get their webhooks from two workers, of which one is killed', async () => {
    const [killed] = await Promise.all([service.startWorker(), service.startWorker()])
    const leads = leadsOf(service, partner)
    const committed = await Promise.all(Array.from({ length: 10 }, () => leads.commit()))
    await partner.endpoint.until(() => partner.endpoint.arrivals.length > 0)
    await killed.kill()
    await partner.endpoint.until(() => committed.every((leadId) => leads.arrivals(leadId).length > 0))
    expect(await sessions()).toBeLessThanOrEqual(POOL)
  })
})
