import type { Config } from './config.ts'
import type { Sql } from './core/database/orm.ts'
import { ownerInstead } from './core/database/roles/service-role.ts'
import { fail } from './fail.ts'

/**
 * Ends the process of a production that has logged in as an owner: whoever breaks into the API could change the audit and the
 * schema. A sandbox of one login, as that of `npm start`, is served.
 */
export async function requireServiceLogin(
  sql: Sql,
  { ENVIRONMENT }: Pick<Config<'api'>, 'ENVIRONMENT'>,
): Promise<void> {
  if (ENVIRONMENT !== 'production') return
  const remedy = await ownerInstead(sql)
  if (remedy !== undefined) fail(remedy)
}
