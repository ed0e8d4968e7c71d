import { type Config, misspeltSettings, processEnvironment, readConfig } from './config.ts'
import { migrateDeployment } from './core/record/statements/deployment.ts'
import { monthsMigrated } from './core/audit/migrated.ts'
import { eraseMigrated } from './capabilities/erasure/migrated.ts'
import { connect, type Sql, sqlOf } from './core/database/orm.ts'
import {
  isLoginRefused,
  OWNER_NEEDED,
  provideServiceRole,
  requireOwner,
  requireTwoRoles,
} from './core/database/roles/service-role.ts'
import { codeOf } from './core/database/roles/role-rights.ts'
import { isLockTimeout } from './core/database/database-away.ts'
import { migrationPatience } from './core/database/schema/migrating.ts'
import { olderServer } from './core/database/schema/server-version.ts'
import { provideStaffRoles } from './core/database/roles/staff-roles.ts'
import { fail, failIfOtherEnvironment, orFail, reasonOf } from './fail.ts'

/** What rooms do with a database that nothing serves yet, and the lines that they print. */
const onceMigrated: ((sql: Sql, config: Config<'migrate'>) => Promise<string[]>)[] = [
  monthsMigrated,
  // a restored backup may have what was erased since
  eraseMigrated,
]

const NO_SUCH_DATABASE = '3D000'

const config = orFail(() => readConfig('migrate'))
misspeltSettings(processEnvironment()).forEach((line) => process.stderr.write(`${line}\n`))
const { DATABASE_URL: url, MIGRATION_DATABASE_URL: ownerUrl } = config
/** One takes turns with others while one applies migrations. */
const CONNECTIONS = 2
const orm = await connect(ownerUrl ?? url, migrationPatience, { connections: CONNECTIONS })
const say = (line: string) => void process.stdout.write(`${line}\n`)
try {
  const older = await olderServer(sqlOf(orm))
  if (older !== undefined) throw new Error(older)
  if (ownerUrl !== undefined) await requireTwoRoles(orm, url)
  await requireOwner(orm, ownerUrl === undefined ? 'DATABASE_URL' : 'MIGRATION_DATABASE_URL')
  const applied = await migrateDeployment(orm, config.ENVIRONMENT).catch(failIfOtherEnvironment)
  if (ownerUrl !== undefined) await provideServiceRole(orm, url)
  const fault = await provideStaffRoles(orm)
  if (fault !== undefined) process.stdout.write(`${fault}\n`)
  const lines: string[] = []
  for (const step of onceMigrated) lines.push(...(await step(sqlOf(orm), config)))
  process.stdout.write(`${applied === 0 ? 'The schema is up to date' : `Applied ${applied} migration(s)`}.\n`)
  lines.forEach(say)
} catch (error) {
  fail(`The database cannot be migrated: ${reasonOf(error)}${remedyFor(error)}`)
} finally {
  await orm.close()
}

function remedyFor(error: unknown): string {
  if (isLockTimeout(error))
    return '. Others use a table that has to change: end their transactions, and run it again'
  if (codeOf(error) === NO_SUCH_DATABASE) return '. Create it first: see “On several machines” in docs/run.md'
  // the first run creates the service's role
  return ownerUrl === undefined && isLoginRefused(error)
    ? `. If that is the service’s role, ${OWNER_NEEDED}`
    : ''
}
