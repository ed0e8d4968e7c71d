import { readConfig } from './config.ts'
import { connect, migrate } from './db/orm.ts'
import { fail, orFail } from './fail.ts'

const config = orFail(() => readConfig('migrate'))
const orm = await connect(config.DATABASE_URL)
try {
  const applied = await migrate(orm)
  process.stdout.write(`${applied === 0 ? 'The schema is up to date' : `Applied ${applied} migration(s)`}.\n`)
} catch (error) {
  fail(`The database cannot be migrated: ${error instanceof Error ? error.message : String(error)}`)
} finally {
  await orm.close()
}
