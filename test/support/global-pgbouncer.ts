import globalSetup, { folder, onSpawn } from './global-setup.ts'
import { startPgBouncer } from './pgbouncer.ts'
import { asService } from './template-database.ts'

/** As for all tests, with PgBouncer between the service and PostgreSQL. Tests themselves look past it. */
export default async function pgbouncerSetup(): Promise<void> {
  await globalSetup()
  const { env } = process
  const databaseUrl = env.TEST_DATABASE_URL ?? ''
  const urls = [databaseUrl, asService(databaseUrl)].map((url) => new URL(url))
  const logins = Object.fromEntries(
    urls.map(({ username, password }) => [username, decodeURIComponent(password)]),
  )
  const { port, carriesNames } = await startPgBouncer({ folder, databaseUrl, logins, onSpawn })
  env.TEST_POOLER = `127.0.0.1:${port}`
  env.TEST_POOLER_CARRIES_NAMES = String(carriesNames)
}
