import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import { connect, sqlOf } from '../../src/core/database/orm.ts'
import {
  type RetentionClass,
  retentionClasses,
} from '../../src/capabilities/retention/decisions/retention.ts'
import { atEnd } from './at-end.ts'
import { freshDatabase } from './database.ts'

/** Every class off. */
export const KEEP_ALL = Object.fromEntries(retentionClasses.map((name) => [name, null])) as Record<
  RetentionClass,
  null
>

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
  return { url, owner, ownerSql: sqlOf(owner), sql }
}
