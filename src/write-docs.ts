import { readFileSync, writeFileSync } from 'node:fs'
import { format, resolveConfig } from 'prettier'
import { buildApp } from './app.ts'
import { settingsRows } from './config.ts'
import { connect } from './database/orm.ts'
import { sqlOf } from './database/sql.ts'
import { createLogger } from './observe/log.ts'

const docs = `${import.meta.dirname}/../docs`
/** No request is made that would call one. */
const starters = {
  startReferral: () => {},
  endpointRequests: { certify: async () => {}, ping: async () => null },
  startEndpoint: () => {},
  erasureLog: undefined,
  closeLead: async () => {},
  allowPrivateNetwork: false,
  sandbox: {
    scenarios: { requireTemporal: async () => {}, run: async () => 'done' as const },
    simulate: async () => 'unanswered' as const,
    clocks: { advance: () => Promise.reject(new Error('no clock')), isMoving: async () => false },
    sinkBase: () => '',
  },
}
// no connection is made: the document comes from the routes
const orm = await connect('postgresql://127.0.0.1/none')
const app = await buildApp({
  environment: 'sandbox',
  sql: sqlOf(orm),
  isDatabaseReady: async () => true,
  log: createLogger('silent', 'api'),
  resendWebhook: async () => 'accepted',
  encryptionKeys: [],
  observeRequest: () => {},
  rateLimit: 0,
  ...starters,
})
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
