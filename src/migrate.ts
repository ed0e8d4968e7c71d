import { readConfig } from './config.ts'
import { migrateDeployment } from './database/deployment.ts'
import { connect } from './database/orm.ts'
import { sqlOf } from './database/sql.ts'
import { codeOf, isDenied, isLockTimeout } from './database/errors.ts'
import { applyRoles, isLoginRefused, provideLogin } from './database/roles.ts'
import { migrationPatience, olderServer } from './database/schema-version.ts'
import { fail, failIfOtherEnvironment, orFail, reasonOf } from './fail.ts'

const NO_SUCH_DATABASE = '3D000'

const config = orFail(() => readConfig('migrate'))
const { DATABASE_URL: url, MIGRATION_DATABASE_URL: ownerUrl } = config
/** One takes turns with others while one applies migrations. */
const CONNECTIONS = 2
const orm = await connect(ownerUrl ?? url, migrationPatience, { connections: CONNECTIONS })
const say = (line: string) => void process.stdout.write(`${line}\n`)
try {
  const older = await olderServer(sqlOf(orm))
  if (older !== undefined) throw new Error(older)
  const applied = await migrateDeployment(orm, config.ENVIRONMENT).catch(failIfOtherEnvironment)
  const fault = await applyRoles(orm)
  // an owner who serves alone needs no roles
  if (fault !== undefined && ownerUrl !== undefined) throw new Error(fault)
  if (fault !== undefined) say(`Without roles for logins of their own: ${fault}`)
  if (ownerUrl !== undefined) await provideLogin(orm, url)
  say(`${applied === 0 ? 'The schema is up to date' : `Applied ${applied} migration(s)`}.`)
} catch (error) {
  fail(`The database cannot be migrated: ${reasonOf(error)}${remedyFor(error)}`)
} finally {
  await orm.close()
}

function remedyFor(error: unknown): string {
  if (isLockTimeout(error))
    return '. Others use a table that has to change: end their transactions, and run it again'
  if (codeOf(error) === NO_SUCH_DATABASE) return '. Create it first: see “On several machines” in docs/run.md'
  return ownerUrl === undefined && (isDenied(error) || isLoginRefused(error))
    ? '. If DATABASE_URL names the service’s role, set MIGRATION_DATABASE_URL to the same database as its owner. See “On several machines” in docs/run.md'
    : ''
}
