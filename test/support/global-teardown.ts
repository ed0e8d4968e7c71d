import { ownsDatabase, stopAll } from './global-setup.ts'
import { dropDatabase } from './template-database.ts'

/** Leaves nothing behind, neither processes nor databases on a given server. */
export default async function globalTeardown(): Promise<void> {
  const { TEST_DATABASE_URL: server, TEST_TEMPLATE_DATABASE: template } = process.env
  if (server && template && !ownsDatabase()) await dropDatabase(server, template)
  stopAll()
}
