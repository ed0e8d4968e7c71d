import type { Config } from '../config.ts'
import type { Sql } from './sql.ts'
import { isOwner } from './roles.ts'
import { fail } from '../fail.ts'

/**
 * Ends the process of a production that has logged in as an owner: whoever breaks into the API could change the audit and the
 * schema. A sandbox of one login, as that of `npm start`, is served.
 */
export async function requireServiceLogin(
  sql: Sql,
  { ENVIRONMENT }: Pick<Config<'api'>, 'ENVIRONMENT'>,
): Promise<void> {
  if (ENVIRONMENT !== 'production' || !(await isOwner(sql))) return
  fail(
    'DATABASE_URL names an owner of the tables: in production, name the role referrals_service, and give the owner to npm run migrate in MIGRATION_DATABASE_URL. See “On several machines” in docs/run.md.',
  )
}
