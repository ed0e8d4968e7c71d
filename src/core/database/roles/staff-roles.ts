import { sql as raw } from 'kysely'
import { takeLock } from '../locks/locks.ts'
import { type Orm, type Sql, sqlOf } from '../orm.ts'
import {
  DELETE_OLD_READS,
  grantFunctions,
  grantRights,
  grantSequences,
  isDenied,
  type RightsOf,
  WRITE_STAFF_READ,
} from './role-rights.ts'
import { serviceRights } from './service-role.ts'

/** The roles that people's own logins are members of. They cannot log in themselves. */
export interface StaffRoles {
  viewer: string
  staff: string
}

/** Roles are shared by all databases of a server, so theirs have its name in them. */
const ROLE_NAMES = raw<string>`json_build_object(
  'viewer', current_database() || '_viewer', 'staff', current_database() || '_staff')`
const LONGEST_NAME = 63

/** What nobody needs to see who only reads. */
const HIDDEN: Record<string, string[]> = {
  api_keys: ['hash'],
  endpoint_changes: ['ciphertext'],
  endpoint_secrets: ['ciphertext'],
  onboarding_mails: ['address_hash'],
  sinks: ['token'],
}

const viewerRights: RightsOf = (table, columns) => {
  const hidden = HIDDEN[table]
  if (hidden === undefined) return 'select'
  const shown = columns.filter((column) => !hidden.includes(column))
  return `select (${shown.map((column) => `"${column}"`).join(', ')})`
}

/** Written by the service alone; all else staff write as it does. */
const SERVICES_OWN = [
  'dormancy_digests',
  'exports',
  'failing_workflows',
  'lead_events',
  'leases',
  'losses',
  'personal_reads',
  'quotas',
  'sinks',
  'sink_webhooks',
]
/** Staff run retention too. */
const RETAINED = ['endpoint_pings', 'requests']
const staffRights: RightsOf = (table) => {
  if (RETAINED.includes(table)) return 'select, delete'
  // they ask for one before they set a URL
  if (table === 'certifications') return 'select, insert, delete'
  return SERVICES_OWN.includes(table) ? 'select' : serviceRights(table)
}

/**
 * Makes the two roles, and gives them their rights. To be repeated after each migration.
 *
 * @returns why one of them has no rights, in a line that says what to do; everything else works without them.
 */
export async function provideStaffRoles(owner: Orm): Promise<string | undefined> {
  return sqlOf(owner)
    .transaction()
    .execute(async (trx) => {
      // PostgreSQL fails where two do this at once
      await takeLock(trx, 'roles')
      const { viewer, staff } = await staffRoles(trx)
      const fault = await faultOf(trx, viewer, staff)
      if (fault !== undefined) return fault
      await grantRights(trx, viewer, viewerRights)
      await grantFunctions(trx, viewer, WRITE_STAFF_READ)
      await grantRights(trx, staff, staffRights)
      await grantSequences(trx, staff)
      await grantFunctions(trx, staff, WRITE_STAFF_READ, DELETE_OLD_READS)
      return undefined
    })
}

/** Makes those that are missing; answers what keeps it from that. */
async function faultOf(trx: Sql, ...roles: string[]): Promise<string | undefined> {
  const without = 'Everything works, without logins that may only read'
  if (roles.some((role) => Buffer.byteLength(role) > LONGEST_NAME)) {
    return `The roles ${roles.join(' and ')} cannot be made, because the database’s name is too long. ${without}.`
  }
  const { rows } = await raw<{ name: string; can_log_in: boolean }>`
    select rolname as name, rolcanlogin as can_log_in from pg_roles where rolname = any(${roles})`.execute(
    trx,
  )
  const taken = rows.find((row) => row.can_log_in)
  if (taken !== undefined) {
    return `The role ${taken.name} is somebody’s login, and was to be a group of logins: rename it, and run this again. ${without}.`
  }
  const missing = roles.filter((role) => !rows.some(({ name }) => name === role))
  if (missing.length === 0) return undefined
  await raw`savepoint before_roles`.execute(trx)
  try {
    for (const role of missing) await raw`create role ${raw.id(role)} nologin`.execute(trx)
    return undefined
  } catch (error) {
    if (!isDenied(error)) throw error
    await raw`rollback to savepoint before_roles`.execute(trx)
    const statements = missing.map((role) => `create role ${role};`).join(' ')
    return `The owner has no right to make roles: ${statements} and run this again. ${without}.`
  }
}

async function staffRoles(sql: Sql): Promise<StaffRoles> {
  const { rows } = await raw<{ roles: StaffRoles }>`select ${ROLE_NAMES} as roles`.execute(sql)
  return rows[0]?.roles ?? { viewer: '', staff: '' }
}

/** What PostgreSQL lets this connection do, and the roles that let it do more. */
export interface Permission {
  login: string
  mayRead: boolean
  mayAct: boolean
  roles: StaffRoles
}

export async function readPermission(sql: Sql): Promise<Permission> {
  const may = (right: string) => raw`coalesce(has_table_privilege(to_regclass('leads'), ${right}), false)`
  const { rows } = await raw<Permission>`
    select session_user as login, ${ROLE_NAMES} as roles,
      ${may('select')} as "mayRead", ${may('update')} as "mayAct"`.execute(sql)
  return rows[0] ?? { login: '', mayRead: false, mayAct: false, roles: { viewer: '', staff: '' } }
}
