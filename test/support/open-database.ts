import { connect, type Orm } from '../../src/database/orm.ts'
import { type Sql, sqlOf } from '../../src/database/sql.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { atEnd } from './at-end.ts'
import { freshDatabase } from './database.ts'

/** A connection to a database of the test file's own, with one partner in it. */
export async function openDatabase(): Promise<{ orm: Orm; sql: Sql; url: string; partnerId: number }> {
  const database = await freshDatabase()
  const orm = await connect(database.url)
  atEnd(async () => {
    await orm.close()
    await database.drop()
  })
  const sql = sqlOf(orm)
  const { id: partnerId } = await addPartner(sql, { name: 'First Lender' })
  return { orm, sql, url: database.url, partnerId }
}
