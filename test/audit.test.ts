import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { recordAudit } from '../src/audit.ts'
import { connect } from '../src/database/orm.ts'
import { type Sql, sqlOf } from '../src/database/sql.ts'
import { atEnd } from './support/at-end.ts'
import { freshDatabase } from './support/database.ts'

describe('the audit only grows', () => {
  const as = {} as Record<'owner' | 'service', Sql>

  beforeAll(async () => {
    const database = await freshDatabase()
    const [owner, service] = [await connect(database.url), await connect(database.serviceUrl)]
    atEnd(async () => {
      await Promise.all([owner.close(), service.close()])
      await database.drop()
    })
    Object.assign(as, { owner: sqlOf(owner), service: sqlOf(service) })
    await recordAudit(as.service, 'Kim', { action: 'test', outcome: 'done' })
  })

  const statements = [
    "update audit set actor = 'nobody'",
    'delete from audit',
    'truncate audit',
    'insert into audit (id, actor, action, outcome) values (7, $$Kim$$, $$test$$, $$done$$) on conflict (id) do update set actor = $$nobody$$',
  ]

  it.each(statements)('when its owner asks to %s', async (statement) => {
    await expect(raw.raw(statement).execute(as.owner)).rejects.toThrow('the audit only grows')
  })

  it.each(statements)('when the service asks to %s', async (statement) => {
    await expect(raw.raw(statement).execute(as.service)).rejects.toThrow('permission denied')
  })

  it('and the service cannot choose the time or the login of a row', async () => {
    for (const column of ['at', 'database_user', 'id'])
      await expect(
        raw`insert into audit (actor, action, outcome, ${raw.id(column)}) values ('Kim', 'test', 'done', default)`.execute(
          as.service,
        ),
      ).rejects.toThrow('permission denied')
    const [row] = await as.service.selectFrom('audit').selectAll().execute()
    expect(row).toMatchObject({
      actor: 'Kim',
      action: 'test',
      database_user: expect.stringContaining('_service'),
    })
  })
})
