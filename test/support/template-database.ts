import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { migrateDeployment } from '../../src/core/record/statements/deployment.ts'
import { connect, sqlOf } from '../../src/core/database/orm.ts'
import { provideServiceRole } from '../../src/core/database/roles/service-role.ts'

/**
 * Makes a database with all migrations applied, from which each test file copies its own in a few
 * milliseconds. Its name is new in every run: a given server may serve several at once.
 *
 * @returns its name.
 */
export async function makeTemplate(databaseUrl: string): Promise<string> {
  const name = `test_${randomBytes(4).toString('hex')}`
  await createDatabase(databaseUrl, name)
  const url = withDatabase(databaseUrl, name)
  const orm = await connect(url)
  await migrateDeployment(orm, 'sandbox')
  await provideServiceRole(orm, asService(url, name))
  // each copy is a deployment of its own
  await sqlOf(orm).deleteFrom('deployment').execute()
  await orm.close()
  return name
}

/** The role of the service, as a deployment has it: it owns nothing. */
const serviceRole = (template: string) => `${template}_service`

/** A database's address for the service: with the role that was made with `template`. */
export function asService(databaseUrl: string, template: string): string {
  const url = new URL(databaseUrl)
  url.username = serviceRole(template)
  // no part of a name, which the audit may hold
  url.password = `password-of-${template}`
  return url.href
}

/** Removes the template and its role, of which databases that were left behind still know. */
export async function dropTemplate(databaseUrl: string, template: string): Promise<void> {
  await dropDatabase(databaseUrl, template)
  await execute(databaseUrl, `drop role ${serviceRole(template)}`).catch(() => undefined)
}

/** Creates a database, as a copy of `template` where given. */
export async function createDatabase(databaseUrl: string, name: string, template?: string): Promise<void> {
  await execute(
    databaseUrl,
    `create database ${name}${template ? ` template ${template} strategy file_copy` : ''}`,
  )
}

/** Removes a database, and the roles for people's logins that may have been made for it. */
export async function dropDatabase(databaseUrl: string, name: string): Promise<void> {
  await execute(databaseUrl, `drop database if exists ${name} with (force)`)
  await execute(databaseUrl, `drop role if exists ${name}_viewer, ${name}_staff`)
}

/** The same server's address with another database. */
export function withDatabase(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl)
  url.pathname = `/${name}`
  return url.href
}

async function execute(databaseUrl: string, sql: string): Promise<void> {
  // not by the ORM, whose start takes longer than the statement
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
