import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { connect } from '../../src/database/orm.ts'
import { sqlOf } from '../../src/database/sql.ts'
import { applyRoles, migrateDeployment, provideLogin } from '../../src/database/schema.ts'

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
  await applyRoles(orm)
  await provideLogin(orm, asService(url))
  // each copy is a deployment of its own
  await sqlOf(orm).deleteFrom('deployment').execute()
  await orm.close()
  return name
}

/** A database's address for the service, whose role owns nothing. A given server keeps it for other runs. */
export function asService(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  url.username = 'referrals_service'
  // no part of a name, which the audit may hold
  url.password = 'password-of-the-service'
  return url.href
}

/** Creates a database, as a copy of `template` where given. */
export async function createDatabase(databaseUrl: string, name: string, template?: string): Promise<void> {
  await execute(
    databaseUrl,
    `create database ${name}${template ? ` template ${template} strategy file_copy` : ''}`,
  )
}

/** Removes a database. */
export async function dropDatabase(databaseUrl: string, name: string): Promise<void> {
  await execute(databaseUrl, `drop database if exists ${name} with (force)`)
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
