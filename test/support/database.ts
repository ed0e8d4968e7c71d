import { randomBytes } from 'node:crypto'
import { asService, createDatabase, dropDatabase, withDatabase } from './template-database.ts'

interface TestDatabase {
  /** As its owner. */
  url: string
  /** As the service, which may not change the schema. */
  serviceUrl: string
  /** Removes it, with whatever is still connected. */
  drop(): Promise<void>
}

/** A database of one's own with all migrations applied and no rows. */
export async function freshDatabase(): Promise<TestDatabase> {
  const { TEST_DATABASE_URL: server, TEST_TEMPLATE_DATABASE: template } = process.env
  if (!server || !template)
    throw new Error('The databases for tests are made by test/support/global-setup.ts.')
  const name = `${template}_${randomBytes(4).toString('hex')}`
  await createDatabase(server, name, template)
  const url = withDatabase(server, name)
  return { url, serviceUrl: asService(url), drop: () => dropDatabase(server, name) }
}
