import { readConfig } from './config.ts'
import { isLockTimeout } from './database/errors.ts'
import { connect, patience } from './database/orm.ts'
import { applyRoles, isNoOwner, migrateDeployment, provideLogin } from './database/schema.ts'
import { fail, failIfRefused, orFail, reasonOf } from './fail.ts'

const config = orFail(() => readConfig('migrate'))
const { DATABASE_URL: url, MIGRATION_DATABASE_URL: ownerUrl } = config
/** One holds the lock against other processes while the other applies migrations. */
const CONNECTIONS = 2
const orm = await connect(ownerUrl ?? url, patience.migrate, CONNECTIONS)
try {
  const applied = await migrateDeployment(orm, config.ENVIRONMENT).catch(failIfRefused)
  // an owner who serves alone needs no roles
  if (ownerUrl !== undefined) {
    await applyRoles(orm)
    await provideLogin(orm, url)
  }
  process.stdout.write(`${applied === 0 ? 'The schema is up to date' : `Applied ${applied} migration(s)`}.\n`)
} catch (error) {
  fail(`The database cannot be migrated: ${reasonOf(error)}${remedyFor(error)}`)
} finally {
  await orm.close()
}

function remedyFor(error: unknown): string {
  if (isLockTimeout(error))
    return '. Another transaction uses a table that must change: end it, and run npm run migrate again'
  return ownerUrl === undefined && isNoOwner(error)
    ? '. If DATABASE_URL names the service’s role, set MIGRATION_DATABASE_URL to the same database as its owner. See “On several machines” in docs/run.md'
    : ''
}
