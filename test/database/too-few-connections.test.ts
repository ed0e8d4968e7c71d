import { describe, expect, it } from '@jest/globals'
import { connect, workerPatience } from '../../src/database/orm.ts'
import { sqlOf } from '../../src/database/sql.ts'
import { findTooFewConnections, tooFewConnections } from '../../src/database/database-fault.ts'
import { atEnd } from '../support/at-end.ts'
import { openDatabase } from '../support/open-database.ts'

const settings = { max_connections: '100', superuser_reserved_connections: '3', reserved_connections: '2' }

describe('a process at its start', () => {
  it('says nothing where PostgreSQL has all that it opens', async () => {
    // 95 for everybody, this session among the 76
    expect(tooFewConnections({ settings, connected: 76 }, 20)).toBeUndefined()
    const { url } = await openDatabase()
    const orm = await connect(url, workerPatience)
    atEnd(() => orm.close())
    expect(await findTooFewConnections(sqlOf(orm), 20)).toBeUndefined()
  })

  it('says that PostgreSQL has too few connections left, and what to do', () => {
    expect(tooFewConnections({ settings, connected: 77 }, 20)).toBe(
      'PostgreSQL’s max_connections of 100 leaves 18 more connections, and this process opens up to 20: raise max_connections, or lower DATABASE_POOL. See “Connections to PostgreSQL” in docs/operations/metrics-and-limits.md',
    )
    expect(tooFewConnections({ settings, connected: 100 }, 20)).toContain('leaves 0 more connections')
  })

  it('says so on a server that has fewer than it opens', async () => {
    const { url } = await openDatabase()
    const orm = await connect(url, workerPatience)
    atEnd(() => orm.close())
    expect(await findTooFewConnections(sqlOf(orm), 1000)).toMatch(
      /^PostgreSQL’s max_connections of \d+ leaves \d+ more connections/,
    )
  })
})
