import { readFileSync } from 'node:fs'
import { sql as raw } from 'kysely'
import { codeOf, isDenied } from './errors.ts'
import { type Sql, sqlOf, takeLock } from './sql.ts'
import { connect, type Orm } from './orm.ts'

const SERVICE = 'referrals_service'
const AUTHENTICATION_FAILED = ['28P01', '28000']
/** No such table, no such database. */
const ELSEWHERE = ['42P01', '3D000']

/**
 * Makes the two roles where they are missing, and grants them their rights: see roles.sql.
 *
 * @returns what to do, in one line, if the owner may not make them; then nobody has got any rights.
 */
export async function applyRoles(owner: Orm): Promise<string | undefined> {
  const roles = raw.raw(readFileSync(`${import.meta.dirname}/roles.sql`, 'utf8'))
  try {
    await sqlOf(owner)
      .transaction()
      .execute(async (trx) => {
        // PostgreSQL fails where two grant at once
        await takeLock(trx, 'migration')
        await roles.execute(trx)
      })
    return undefined
  } catch (error) {
    if (!(error instanceof Error && /permission denied to create role/.test(error.message))) throw error
    return 'the owner may not make roles: have an administrator run create role referrals_service login; create role referrals_staff; and run this again'
  }
}

/**
 * Lets the service log in with the password in its URL, which an owner may set who may make roles.
 *
 * @throws {Error} one line that says what to do: the URL names another role or another database.
 */
export async function provideLogin(owner: Orm, serviceUrl: string): Promise<void> {
  const { username, password } = new URL(serviceUrl)
  if (decodeURIComponent(username) !== SERVICE)
    throw new Error(`DATABASE_URL must name the role ${SERVICE}, to which roles.sql grants its rights`)
  const sql = sqlOf(owner)
  const own = await deploymentOf(sql)
  const found = await deploymentAt(serviceUrl).catch(async (error: unknown) => {
    if (!isLoginRefused(error)) throw error
    // PostgreSQL may log a statement that fails, with a password that is not set then
    const secret = raw.lit(decodeURIComponent(password))
    await raw`alter role ${raw.id(SERVICE)} login password ${secret}`.execute(sql)
    return deploymentAt(serviceUrl)
  })
  if (found !== own)
    throw new Error('DATABASE_URL and MIGRATION_DATABASE_URL name different databases: correct one of them')
}

/** Whether PostgreSQL refused a login: there is no such role, or its password is another. */
export function isLoginRefused(error: unknown): boolean {
  return AUTHENTICATION_FAILED.includes(codeOf(error))
}

/** Whether this session could change the schema and the audit: as their owner, its member, or a superuser. */
export async function isOwner(sql: Sql): Promise<boolean> {
  const { rows } = await raw<{ owns: boolean }>`
    select pg_has_role(session_user, relowner, 'member') as owns from pg_class where oid = to_regclass('audit')`.execute(
    sql,
  )
  return rows[0]?.owns === true
}

async function deploymentOf(sql: Sql): Promise<string | undefined> {
  return (await sql.selectFrom('deployment').select('id').executeTakeFirst())?.id
}

async function deploymentAt(url: string): Promise<string | undefined> {
  const orm = await connect(url)
  try {
    return await deploymentOf(sqlOf(orm))
  } catch (error) {
    if (!ELSEWHERE.includes(codeOf(error)) && !isDenied(error)) throw error
    return undefined
  } finally {
    await orm.close()
  }
}
