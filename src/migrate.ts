import { misspeltSettings, processEnvironment, readConfig } from './config.ts'
import { migrateDeployment } from './core/record/statements/deployment.ts'
import { applyJournal } from './capabilities/erasure/statements/apply-journal.ts'
import { erasureTools } from './capabilities/erasure/statements/journal.ts'
import { connect, sqlOf } from './core/database/orm.ts'
import { provideServiceRole, requireTwoRoles } from './core/database/service-role.ts'
import { provideStaffRoles } from './core/database/staff-roles.ts'
import { fail, failIfOtherEnvironment, orFail, reasonOf } from './fail.ts'

const NO_SUCH_DATABASE = '3D000'

const config = orFail(() => readConfig('migrate'))
misspeltSettings(processEnvironment()).forEach((line) => process.stderr.write(`${line}\n`))
const { DATABASE_URL: url, MIGRATION_DATABASE_URL: ownerUrl } = config
const orm = await connect(ownerUrl ?? url)
const say = (line: string) => void process.stdout.write(`${line}\n`)
try {
  if (ownerUrl !== undefined) await requireTwoRoles(orm, url)
  const { ENVIRONMENT: environment, ENCRYPTION_KEY: keys } = config
  const applied = await migrateDeployment(orm, environment, keys, say).catch(failIfOtherEnvironment)
  if (ownerUrl !== undefined) await provideServiceRole(orm, url)
  const fault = await provideStaffRoles(orm)
  if (fault !== undefined) process.stdout.write(`${fault}\n`)
  // a restored backup may have what was erased since; nothing serves it yet
  const { erased, held, unknown } = await applyJournal(sqlOf(orm), erasureTools(config))
  process.stdout.write(`${applied === 0 ? 'The schema is up to date' : `Applied ${applied} migration(s)`}.\n`)
  if (erased.length > 0)
    process.stdout.write(`Erased again what the record still had: leads ${erased.join(', ')}.\n`)
  if (held.length > 0)
    process.stdout.write(
      `Not erased again, because the record says that they are held: leads ${held.join(', ')}. See staff erasure apply.\n`,
    )
  if (unknown.length > 0)
    process.stdout.write(
      `Not erased, because nobody knows whether they were erased before the restore: leads ${unknown.join(', ')}. See staff erasure list.\n`,
    )
} catch (error) {
  const isMissing = (error as { code?: unknown }).code === NO_SUCH_DATABASE
  const remedy = isMissing ? '. Create it first: see “On several machines” in docs/run.md' : ''
  fail(`The database cannot be migrated: ${reasonOf(error)}${remedy}`)
} finally {
  await orm.close()
}
