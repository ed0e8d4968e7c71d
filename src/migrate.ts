import { readConfig } from './config.ts'
import { migrateDeployment } from './db/deployment.ts'
import { connect } from './db/orm.ts'
import { fail, failIfOtherEnvironment, orFail } from './fail.ts'

const config = orFail(() => readConfig('migrate'))
const orm = await connect(config.DATABASE_URL)
try {
  const applied = await migrateDeployment(orm, config.ENVIRONMENT).catch(failIfOtherEnvironment)
  process.stdout.write(`${applied === 0 ? 'The schema is up to date' : `Applied ${applied} migration(s)`}.\n`)
} catch (error) {
  fail(`The database cannot be migrated: ${error instanceof Error ? error.message : String(error)}`)
} finally {
  await orm.close()
}
