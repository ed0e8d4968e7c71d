import { sql as raw } from 'kysely'
import { takeLock } from '../locks/locks.ts'
import { connect, type Orm, type Sql, sqlOf } from '../orm.ts'
import {
  codeOf,
  DELETE_OLD_READS,
  grantFunctions,
  grantRights,
  grantSequences,
  isDenied,
  MAKE_MONTHS_OF_READS,
  WRITE_STAFF_READ,
} from './role-rights.ts'
import { scramVerifier } from './scram.ts'

/** What the service deletes expires, or is for tests. */
const RIGHTS = 'select, insert, update'
/** Tables on which the service has others: what is written there mostly stays as it is. */
const OTHER_RIGHTS: Record<string, string> = {
  audit: 'select, insert (actor, action, outcome, begun_id, partner_id, lead_id, detail, os_user, host)',
  certifications: 'select, insert, update, delete',
  deployment: 'select, insert, update (generation, system_identifier, timeline, alive_at)',
  endpoint_changes: 'select, insert, update, delete',
  endpoint_pings: 'select, insert, update, delete',
  endpoint_secrets: 'select, insert, update, delete',
  erasure_intents: 'select, insert, delete',
  failing_workflows: 'select, insert, update, delete',
  idempotency_keys: 'select, insert, update, delete',
  lead_events: 'select, insert',
  leases: 'select, update (token, until)',
  mikro_orm_migrations: 'select',
  notices: 'select, insert, update, delete',
  onboarding_mails: 'select, insert, update (address_hash, sending_until)',
  personal_reads: 'select, insert (at, lead_id, partner_id, key_id, what)',
  quotas: 'select, insert, update, delete',
  requests: 'select, insert, delete',
  sandbox_runs: 'select, insert, update, delete',
  sink_webhooks: 'select, insert, delete',
  sinks: 'select, insert, update, delete',
}
const AUTHENTICATION_FAILED = ['28P01', '28000']
/** No such table, no such database. */
const ELSEWHERE = ['42P01', '3D000']

/** What the service may do with a table. */
export const serviceRights = (table: string): string => OTHER_RIGHTS[table] ?? RIGHTS

/**
 * Makes the role that `serviceUrl` names able to run the service, and to do nothing else: it owns nothing, and
 * changes neither the schema nor what was recorded for good. To be repeated after each migration.
 *
 * @param owner the owner's connection. It needs the right to create roles unless the role is there and its
 *   password is right.
 * @throws {Error} one line that says what to do.
 */
export async function provideServiceRole(owner: Orm, serviceUrl: string): Promise<void> {
  const { username, password } = new URL(serviceUrl)
  const role = decodeURIComponent(username)
  const sql = sqlOf(owner)
  await refuseOwner(sql, role)
  await sql.transaction().execute(async (trx) => {
    // PostgreSQL fails where two do this at once
    await takeLock(trx, 'roles')
    await giveLogin(trx, role, decodeURIComponent(password), serviceUrl)
    await grantRights(trx, role, serviceRights)
    await grantSequences(trx, role)
    await grantFunctions(trx, role, WRITE_STAFF_READ, MAKE_MONTHS_OF_READS, DELETE_OLD_READS)
  })
  await requireSameDatabase(sql, serviceUrl)
}

/**
 * Refuses two roles that are one, or are the wrong way round.
 *
 * @throws {Error} one line that says what to do.
 */
export async function requireTwoRoles(owner: Orm, serviceUrl: string): Promise<void> {
  await refuseOwner(sqlOf(owner), decodeURIComponent(new URL(serviceUrl).username))
}

/**
 * Which owner this connection logged in as, in one line that says what to do; `undefined` if it owns nothing. Whoever may
 * become the owner of the database, its schema or its tables counts as one, and a superuser may.
 */
export async function ownerInstead(sql: Sql): Promise<string | undefined> {
  const { rows } = await raw<{ role: string; owns: boolean }>`
    select session_user as role, bool_or(pg_has_role(session_user, owner, 'member')) as owns
    from (select datdba from pg_database where datname = current_database()
      union select nspowner from pg_namespace where nspname = current_schema()
      union select relowner from pg_class
      where relkind in ('r', 'p') and relnamespace = to_regnamespace(current_schema()::text)) as owners (owner)`.execute(
    sql,
  )
  const { role, owns } = rows[0] ?? {}
  return owns
    ? `DATABASE_URL names the role ${role}, which owns the database or everything: in production the service’s role owns nothing. Name a role of its own in DATABASE_URL for all programs, and run npm run migrate with the owner in MIGRATION_DATABASE_URL, which creates it. See “On several machines” in docs/run.md.`
    : undefined
}

/**
 * Refuses a connection that may not change the schema, before PostgreSQL refuses something in the middle.
 *
 * @param setting which names the connection's role.
 * @throws {Error} one line that says what to do.
 */
export async function requireOwner(owner: Orm, setting: OwnersSetting): Promise<void> {
  const { rows } = await raw<{ role: string; owns: boolean }>`
    select current_user as role, coalesce(
      (select pg_has_role(current_user, relowner, 'usage') from pg_class
        where oid = to_regclass('mikro_orm_migrations')),
      has_schema_privilege(to_regnamespace(current_schema()::text), 'create'), false) as owns`.execute(
    sqlOf(owner),
  )
  const { role, owns } = rows[0] ?? {}
  if (owns) return
  throw new Error(
    `${setting} names the role ${role}, which may not change the schema: ${
      setting === 'DATABASE_URL' ? OWNER_NEEDED : 'it must name the owner of the tables'
    }`,
  )
}

/** What names the role that migrates. */
export type OwnersSetting = 'DATABASE_URL' | 'MIGRATION_DATABASE_URL'

/** What to do where `migrate` has only the service's connection. */
export const OWNER_NEEDED =
  'set MIGRATION_DATABASE_URL to the same database as its owner, who creates the role of DATABASE_URL. See “On several machines” in docs/run.md'

/** Whether PostgreSQL refused a login: there is no such role, or its password is another. */
export function isLoginRefused(error: unknown): boolean {
  return AUTHENTICATION_FAILED.includes(codeOf(error))
}

async function refuseOwner(sql: Sql, role: string): Promise<void> {
  const { rows } = await raw<{ same: boolean; owns: boolean }>`
    select ${role} = current_user as same,
      coalesce((select rolsuper from pg_roles where rolname = ${role}), false)
      or exists (select from pg_tables where schemaname = current_schema() and tableowner = ${role})
      as owns`.execute(sql)
  const { same, owns } = rows[0] ?? {}
  if (!same && !owns) return
  if (!owns)
    throw new Error(
      `MIGRATION_DATABASE_URL names the role ${role}, as DATABASE_URL does: it must name the owner of the tables`,
    )
  throw new Error(
    `DATABASE_URL names the role ${role}, which owns the tables or everything: name another one for the service, which is created, or unset MIGRATION_DATABASE_URL`,
  )
}

/** Creates the role, or gives it the password of the URL when it has another one. */
async function giveLogin(trx: Sql, role: string, password: string, serviceUrl: string): Promise<void> {
  const { rows } = await raw`select from pg_roles where rolname = ${role}`.execute(trx)
  const exists = rows.length > 0
  if (exists && (await canLogIn(serviceUrl))) return
  const statement = raw.raw(exists ? 'alter' : 'create')
  const secret = password === '' ? raw`` : raw` password ${raw.lit(scramVerifier(password))}`
  await raw`${statement} role ${raw.id(role)} login${secret}`.execute(trx).catch((error: unknown) => {
    if (!isDenied(error)) throw error
    const task = exists
      ? 'give it the password of DATABASE_URL'
      : 'create it with the password of DATABASE_URL'
    throw new Error(
      `the owner has no right to make the role ${role}: ${task}, or give the owner CREATEROLE`,
      { cause: error },
    )
  })
}

async function canLogIn(url: string): Promise<boolean> {
  const orm = await connect(url)
  try {
    await raw`select 1`.execute(sqlOf(orm))
    return true
  } catch (error) {
    if (isLoginRefused(error)) return false
    throw error
  } finally {
    await orm.close()
  }
}

/** The two URLs could name two databases, and each would look well. */
async function requireSameDatabase(sql: Sql, serviceUrl: string): Promise<void> {
  const orm = await connect(serviceUrl)
  const idOf = async (database: Sql) =>
    (await database.selectFrom('deployment').select('id').executeTakeFirst())?.id
  try {
    const ofService = await idOf(sqlOf(orm)).catch(undefinedIfElsewhere)
    if (ofService !== undefined && ofService === (await idOf(sql))) return
  } finally {
    await orm.close()
  }
  throw new Error('DATABASE_URL and MIGRATION_DATABASE_URL name different databases: correct one of them')
}

function undefinedIfElsewhere(error: unknown): undefined {
  if (!ELSEWHERE.includes(codeOf(error)) && !isDenied(error)) throw error
}
