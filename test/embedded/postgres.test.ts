import { expect, test } from '@jest/globals'
import { connect } from '../../src/db/orm.ts'
import { freshDatabase } from '../support/database.ts'

test('gives every test file a migrated database of its own', async () => {
  const database = await freshDatabase()
  const orm = await connect(database.url)
  expect(await orm.em.getConnection().execute('select count(*)::int as count from partners')).toEqual([
    { count: 0 },
  ])
  await orm.close()
  await database.drop()
})
