import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { connect, type Orm } from '../../src/database/orm.ts'
import { sqlOf } from '../../src/database/sql.ts'
import { switchableProxy } from '../http/switchable-proxy.ts'
import { freshDatabase } from '../support/database.ts'

const SILENCE_MS = 1500

describe('a connection in use that says nothing', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let proxy: Awaited<ReturnType<typeof switchableProxy>>
  let orm: Orm
  beforeAll(async () => {
    database = await freshDatabase()
    proxy = await switchableProxy(new URL(database.url))
    orm = await connect(proxy.url, { connectMs: 1000, silenceMs: SILENCE_MS })
  })
  afterAll(async () => {
    await orm.close()
    await proxy.close()
    await database.drop()
  })

  it('is kept if only this process was held up', async () => {
    const direct = await connect(database.url, { connectMs: 1000, silenceMs: SILENCE_MS })
    const begun = Promise.withResolvers<void>()
    const answer = sqlOf(direct)
      .connection()
      .execute(async (one) => {
        await raw`select 1`.execute(one)
        setImmediate(begun.resolve)
        return raw<{ done: number }>`select 1 as done from pg_sleep(0.3)`.execute(one)
      })
    await begun.promise
    // the query is on its way; its answer comes meanwhile
    const end = performance.now() + 2 * SILENCE_MS
    while (performance.now() < end);
    expect((await answer).rows).toEqual([{ done: 1 }])
    await direct.close()
  })

  it('is dropped once the network swallows its packets, and others take its place', async () => {
    const sql = sqlOf(orm)
    const ask = () => raw`select 1`.execute(sql)
    await ask()
    proxy.fallSilent()
    const begun = performance.now()
    // as many as the pool keeps from the test before: each loses its connection
    const answers = await Promise.allSettled([ask(), ask()])
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    // on a busy machine, too: without a limit they would never answer
    expect(performance.now() - begun).toBeLessThan(10_000)
    await proxy.comeBack()
    await expect(ask()).resolves.toBeDefined()
  })
})
