import { offerSharedService } from './global-shared.ts'
import { makeTemplate } from './template-database.ts'

/** For tests of the core alone: the servers are given, the database and the shared service come from what is left. */
export default async function coreSetup(): Promise<void> {
  const { env } = process
  env.TEST_TEMPLATE_DATABASE = await makeTemplate(env.TEST_DATABASE_URL ?? '')
  env.TEST_SHARED_SERVICE = await offerSharedService()
}
