import { readFileSync, writeFileSync } from 'node:fs'
import { format, resolveConfig } from 'prettier'
import { type AppDependencies, buildApp } from './app.ts'
import { settingsRows } from './config.ts'
import { connect } from './database/orm.ts'
import { sqlOf } from './database/sql.ts'
import { createLogger } from './observe/log.ts'

const docs = `${import.meta.dirname}/../docs`
// no connection is made, and no request to a route with a key: the document comes from the schemas
const orm = await connect('postgresql://127.0.0.1/none')
const log = createLogger('silent', 'api')
const nothing = {
  sandbox: { sinkBase: () => '' },
  rateLimit: 0,
  observeRequest: () => {},
}
const dependencies = { environment: 'sandbox', sql: sqlOf(orm), log, ...nothing }
const app = await buildApp(dependencies as unknown as AppDependencies)
const { payload } = await app.inject('/v1/openapi.json')
writeFileSync(`${docs}/openapi.json`, `${JSON.stringify(JSON.parse(payload), null, 2)}\n`)
await app.close()
await orm.close()

const page = `${docs}/settings.md`
const table = [['Variable', 'Read by', 'Default', 'Meaning'], ['-', '-', '-', '-'], ...settingsRows()]
const written = readFileSync(page, 'utf8').replace(
  /^\| Variable .*\n(?:\|.*\n)*/m,
  table.map((row) => `| ${row.join(' | ')} |\n`).join(''),
)
writeFileSync(page, await format(written, { ...(await resolveConfig(page)), parser: 'markdown' }))
