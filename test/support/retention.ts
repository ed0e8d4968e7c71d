import { requireDeployment } from '../../src/database/deployment.ts'
import { connect } from '../../src/database/orm.ts'
import { sqlOf } from '../../src/database/sql.ts'
import { retained } from '../../src/privacy/retention-table.ts'
import { atEnd } from './at-end.ts'
import { freshDatabase } from './database.ts'

/** A class of what is removed when it is old. */
export function retainedAs(name: string) {
  const found = retained.find((each) => each.name === name)
  if (found === undefined) throw new Error(`there is no class ${name}`)
  return found
}

/** A database of a sandbox, as its owner and as the service, with its rights. */
export async function ownedDatabase() {
  const database = await freshDatabase()
  const url = database.serviceUrl
  const [owner, service] = await Promise.all([connect(database.url), connect(url)])
  atEnd(async () => {
    await Promise.all([owner.close(), service.close()])
    await database.drop()
  })
  const sql = sqlOf(service)
  await requireDeployment(sql, 'sandbox')
  return { url, ownerUrl: database.url, owner, ownerSql: sqlOf(owner), sql }
}
