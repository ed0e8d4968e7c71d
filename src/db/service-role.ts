import { sql as raw } from 'kysely'
import { connect, type Orm, type Sql, sqlOf } from './orm.ts'
import { scramVerifier } from './scram.ts'

/** Almost nothing of the service deletes rows. */
const RIGHTS = 'select, insert, update'
/** Tables on which the service has others: what is written there mostly stays as it is. */
const OTHER_RIGHTS: Record<string, string> = {
  audit: 'select, insert',
  deployment: 'select, insert, update (generation, system_identifier, timeline, alive_at)',
  lead_events: 'select, insert',
  mikro_orm_migrations: 'select',
  sink_webhooks: 'select, insert, delete',
}
const LOCK = 7_247_003
const INSUFFICIENT_PRIVILEGE = '42501'
const AUTHENTICATION_FAILED = ['28P01', '28000']
/** No such table, no right to it, no such database. */
const ELSEWHERE = ['42P01', INSUFFICIENT_PRIVILEGE, '3D000']

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
    await raw`select pg_advisory_xact_lock(${LOCK})`.execute(trx)
    await giveLogin(trx, role, decodeURIComponent(password), serviceUrl)
    await grantRights(trx, role)
  })
  await requireSameDatabase(sql, serviceUrl)
}

async function refuseOwner(sql: Sql, role: string): Promise<void> {
  const { rows } = await raw<{ owns: boolean }>`
    select ${role} = current_user or coalesce((select rolsuper from pg_roles where rolname = ${role}), false)
      or exists (select from pg_tables where schemaname = current_schema() and tableowner = ${role})
      as owns`.execute(sql)
  if (!rows[0]?.owns) return
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
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error
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
    if (AUTHENTICATION_FAILED.includes(codeOf(error))) return false
    throw error
  } finally {
    await orm.close()
  }
}

async function grantRights(trx: Sql, role: string): Promise<void> {
  const to = raw.id(role)
  const { rows } = await raw<{ schema: string; database: string; tables: string[] }>`
    select current_schema() as schema, current_database() as database,
      array(select tablename::text from pg_tables where schemaname = current_schema()) as tables`.execute(trx)
  const { schema = 'public', database = '', tables = [] } = rows[0] ?? {}
  await raw`grant connect on database ${raw.id(database)} to ${to}`.execute(trx)
  await raw`revoke create on schema ${raw.id(schema)} from public`.execute(trx)
  await raw`grant usage on schema ${raw.id(schema)} to ${to}`.execute(trx)
  await raw`grant usage, update on all sequences in schema ${raw.id(schema)} to ${to}`.execute(trx)
  await raw`revoke all on all tables in schema ${raw.id(schema)} from ${to}`.execute(trx)
  for (const table of tables) {
    const rights = raw.raw(OTHER_RIGHTS[table] ?? RIGHTS)
    await raw`grant ${rights} on ${raw.id(schema, table)} to ${to}`.execute(trx)
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
  if (!ELSEWHERE.includes(codeOf(error))) throw error
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
