import { readConfig } from './config.ts'
import { migrateDeployment } from './db/deployment.ts'
import { connect } from './db/orm.ts'
import { provideServiceRole } from './db/service-role.ts'
import { provideStaffRoles } from './db/staff-roles.ts'
import { fail, failIfOtherEnvironment, orFail, reasonOf } from './fail.ts'

const config = orFail(() => readConfig('migrate'))
const { DATABASE_URL: url, MIGRATION_DATABASE_URL: ownerUrl } = config
const orm = await connect(ownerUrl ?? url)
try {
  const { ENVIRONMENT: environment, ENCRYPTION_KEY: keys } = config
  const applied = await migrateDeployment(orm, environment, keys).catch(failIfOtherEnvironment)
  if (ownerUrl !== undefined) await provideServiceRole(orm, url)
  const fault = await provideStaffRoles(orm)
  if (fault !== undefined) process.stdout.write(`${fault}\n`)
  process.stdout.write(`${applied === 0 ? 'The schema is up to date' : `Applied ${applied} migration(s)`}.\n`)
} catch (error) {
  fail(`The database cannot be migrated: ${reasonOf(error)}`)
} finally {
  await orm.close()
}
