import { randomBytes } from 'node:crypto'
import { connect, migrate } from '../../src/db/orm.ts'

/**
 * Makes a database with all migrations applied, from which each test file copies its own in a few
 * milliseconds. Its name is new in every run: a given server may serve several at once.
 *
 * @returns its name.
 */
export async function makeTemplate(databaseUrl: string): Promise<string> {
  const name = `test_${randomBytes(4).toString('hex')}`
  await createDatabase(databaseUrl, name)
  const orm = await connect(withDatabase(databaseUrl, name))
  await migrate(orm)
  await orm.close()
  return name
}

/** Creates a database, as a copy of `template` where given. */
export async function createDatabase(databaseUrl: string, name: string, template?: string): Promise<void> {
  await execute(
    databaseUrl,
    `create database ${name}${template ? ` template ${template} strategy file_copy` : ''}`,
  )
}

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
  const orm = await connect(databaseUrl)
  try {
    await orm.em.getConnection().execute(sql)
  } finally {
    await orm.close()
  }
}
