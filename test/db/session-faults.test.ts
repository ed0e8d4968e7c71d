import { describe, expect, it } from '@jest/globals'
import { apiPatience } from '../../src/app.ts'
import { workerPatience } from '../../src/core/database/mikro-orm.config.ts'
import { connect, sqlOf } from '../../src/core/database/orm.ts'
import { findSessionFaults, type Session, sessionFaults } from '../../src/core/database/session-faults.ts'
import { atEnd } from '../support/at-end.ts'
import { openDatabase } from '../support/open-database.ts'
import { connectQueryOf, exampleIni } from '../support/pgbouncer.ts'

const SERVER = { max_connections: '100', superuser_reserved_connections: '3', reserved_connections: '2' }
const LIMITS = {
  lock_timeout: '1000',
  statement_timeout: '1200',
  idle_in_transaction_session_timeout: '10000',
}
const OFF = { lock_timeout: '0', statement_timeout: '0', idle_in_transaction_session_timeout: '0' }

const direct = (connected: number): Session => ({
  settings: { ...SERVER, ...LIMITS, tcp_user_timeout: '25000' },
  connected,
})
const pooled = (limits: Record<string, string>): Session => ({
  settings: { ...SERVER, ...limits, tcp_user_timeout: '0' },
  connected: 99,
})

describe('a process at its start', () => {
  it('says nothing where PostgreSQL has all that it opens', async () => {
    // 95 for everybody, this session among the 76
    expect(sessionFaults(direct(76), apiPatience, 20)).toEqual([])
    const { url } = await openDatabase()
    const orm = await connect(url, workerPatience)
    atEnd(() => orm.close())
    expect(await findSessionFaults(sqlOf(orm), workerPatience, 20)).toEqual([])
  })

  it('says that PostgreSQL has too few connections left, and what to do', () => {
    expect(sessionFaults(direct(77), apiPatience, 20)).toEqual([
      'PostgreSQL’s max_connections of 100 leaves 18 more connections, and this process opens up to 20: raise max_connections, or lower DATABASE_POOL. See “Connections to PostgreSQL” in docs/operations/metrics-and-limits.md',
    ])
    expect(sessionFaults(direct(100), apiPatience, 20)[0]).toContain('leaves 0 more connections')
  })

  it('says so on a server that has fewer than it opens', async () => {
    const { url } = await openDatabase()
    const orm = await connect(url, workerPatience)
    atEnd(() => orm.close())
    expect(await findSessionFaults(sqlOf(orm), workerPatience, 1000)).toEqual([
      expect.stringMatching(/^PostgreSQL’s max_connections of \d+ leaves \d+ more connections/),
    ])
  })

  it('behind a pooler, says nothing of connections, and which of its limits are missing', () => {
    expect(sessionFaults(pooled(LIMITS), apiPatience, 20)).toEqual([])
    expect(sessionFaults(pooled({ ...LIMITS, lock_timeout: '0' }), apiPatience, 20)).toEqual([
      'PostgreSQL has no lock_timeout for this process, because a pooler drops the startup parameter options: have the pooler set them, as connect_query in docs/deploy/pgbouncer/pgbouncer.ini does',
    ])
    expect(sessionFaults(pooled(OFF), { connectMs: 1000 }, 20)).toEqual([])
  })
})

describe('docs/deploy/pgbouncer/pgbouncer.ini', () => {
  const { databases, pgbouncer } = exampleIni()

  it('is for transaction mode, and lets the startup parameter of the programs through', () => {
    expect(pgbouncer).toMatchObject({ pool_mode: 'transaction', ignore_startup_parameters: 'options' })
    expect(Object.keys(databases)).toEqual(['referrals_api', 'referrals_worker'])
    expect(Object.values(databases).join()).not.toContain('user=')
  })

  it.each([
    ['referrals_api', apiPatience],
    ['referrals_worker', workerPatience],
  ] as const)('gives the sessions of %s the limits of its program', (database, patience) => {
    const set = connectQueryOf(databases[database]).matchAll(/set (\w+) = (\d+)/g)
    expect(Object.fromEntries(Array.from(set, ([, name, value]) => [name, Number(value)]))).toEqual({
      lock_timeout: patience.lockMs,
      statement_timeout: patience.statementMs,
      idle_in_transaction_session_timeout: patience.idleInTransactionMs,
    })
  })
})
