import type { Sql } from '../core/database/orm.ts'
import { isDenied } from '../core/database/roles/role-rights.ts'
import { type Permission, readPermission } from '../core/database/roles/staff-roles.ts'
import { Refusal } from './refusal.ts'

/**
 * Asks PostgreSQL, because much of what staff do goes through Temporal, which does not know PostgreSQL's roles.
 *
 * @throws {Refusal} which role the login needs.
 */
export async function requireMayAct(sql: Sql): Promise<void> {
  const permission = await readPermission(sql)
  if (!permission.mayAct) throw new Refusal(needs(permission))
}

/** The error, or which role the login needs if PostgreSQL denied it something. */
export async function explainDenial(sql: Sql, error: unknown): Promise<unknown> {
  if (!isDenied(error)) return error
  const permission = await readPermission(sql).catch(() => undefined)
  return permission === undefined || permission.mayAct ? error : new Refusal(needs(permission))
}

function needs({ login, mayRead, roles: { viewer, staff } }: Permission): string {
  return mayRead
    ? `The login ${login} may only read. To act, it needs the role ${staff}: grant ${staff} to ${login}`
    : `The login ${login} may not read this database. It needs the role ${viewer}, or ${staff} to act: grant ${viewer} to ${login}`
}
