import { beforeAll, describe, expect, it } from '@jest/globals'
import { switchableProxy } from './api/switchable-proxy.ts'
import { anyPort } from './support/any-port.ts'
import { type Entry, runToEnd, startProcess } from './support/processes.ts'
import { prepareService, type Service } from './support/service.ts'
import { until } from './support/until.ts'
import { staff } from './staff/context.ts'

const PRODUCTION = {
  ENVIRONMENT: 'production',
  SMTP_URL: 'smtps://mail.invalid',
  MAIL_FROM: 'us@example.com',
  MAIL_REPLY_TO: 'help@example.com',
  MAIL_FOOTER: 'Example Inc., 1 Main Street',
  SCORE_PROVIDER_URL: 'https://scores.invalid',
  ERASURE_JOURNAL: '/nowhere/journal',
  TRUST_PROXY: '127.0.0.1',
  STAFF_EMAIL: 'staff@example.com',
  WEBHOOK_ALLOW_PRIVATE_NETWORK: '',
}

describe.each(['sandbox', 'production'] as const)('the database of a %s', (stored) => {
  const asked = stored === 'sandbox' ? 'production' : 'sandbox'
  const refusal = `This database belongs to a ${stored} deployment, and ENVIRONMENT is ${asked}: point DATABASE_URL at the ${asked} database, or set ENVIRONMENT=${stored}.\n`
  // each program one way round, and one of them the other way
  const entries: Entry[] =
    stored === 'sandbox'
      ? ['src/server.ts', 'src/worker.ts', 'src/migrate.ts', 'src/setup-temporal.ts']
      : ['src/worker.ts']
  let service: Service
  let environment: Record<string, string>

  beforeAll(async () => {
    service = await prepareService()
    const { environment: given, ownerUrl } = service
    const ofAsked = asked === 'production' ? PRODUCTION : {}
    environment = { ...given, MIGRATION_DATABASE_URL: ownerUrl, ...ofAsked }
    await service.sql.updateTable('deployment').set({ environment: stored }).execute()
  })

  it.each(entries)('is refused in one line by %s as the other environment', async (entry) => {
    expect(await runToEnd(entry, environment)).toMatchObject({ code: 1, stderr: refusal })
  })

  it('is refused by the staff command', async () => {
    const answer = await staff(environment, ['partner', 'list'])
    expect(answer).toEqual({ code: 1, stdout: '', stderr: refusal })
  })

  it('is not migrated', async () => {
    const { orm } = service
    const unapplied = "name like '%_initial'"
    const execute = async (sql: string) => (await orm.em.getConnection().execute(sql)) as unknown
    await execute(`delete from mikro_orm_migrations where ${unapplied}`)
    expect((await runToEnd('src/migrate.ts', environment)).stderr).toBe(refusal)
    expect(await execute(`select name from mikro_orm_migrations where ${unapplied}`)).toEqual([])
  })
})

describe('a production whose login could become the owner', () => {
  let service: Service
  let asOwner: Record<string, string>

  beforeAll(async () => {
    service = await prepareService({ ...PRODUCTION, ALLOW_PLAINTEXT: 'database,temporal' })
    asOwner = { ...service.environment, DATABASE_URL: service.ownerUrl }
  })

  it.each<Entry>(['src/server.ts', 'src/worker.ts'])('is not started by %s', async (entry) => {
    const { code, stderr } = await runToEnd(entry, asOwner)
    expect({ code, lines: stderr.trimEnd().split('\n') }).toEqual({
      code: 1,
      lines: [
        expect.stringMatching(
          /^DATABASE_URL names an owner of the tables: .+ npm run migrate in MIGRATION_DATABASE_URL.+\.$/,
        ),
      ],
    })
  })

  it('is started by the service’s role', async () => {
    const api = await service.startApi()
    expect(await api.stop()).toBe(0)
  })

  it('may be a sandbox', async () => {
    const { environment, ownerUrl } = await prepareService()
    const api = await startProcess('src/server.ts', { ...environment, DATABASE_URL: ownerUrl })
    expect(await api.stop()).toBe(0)
  })
})

describe('a database that is away when the API starts', () => {
  it('is checked when it is back, before anything is served from it', async () => {
    const service = await prepareService()
    const partner = await service.addPartner()
    const proxy = await switchableProxy(new URL(service.environment.DATABASE_URL))
    await proxy.goAway()
    const metricsPort = await anyPort()
    const environment = { ...service.environment, DATABASE_URL: proxy.url, METRICS_PORT: `${metricsPort}` }
    const api = await startProcess('src/server.ts', environment)
    const status = async (url: string, init?: RequestInit) =>
      (await fetch(url, init).catch(() => undefined))?.status
    const ping = `http://127.0.0.1:${api.port}/v1/ping`
    const authorized = { headers: { authorization: `Service-Key ${partner.key}` } }
    expect(await status(ping)).toBe(200)
    expect(await status(ping, authorized)).toBe(503)
    expect(await status(`http://127.0.0.1:${metricsPort}/readyz`)).toBe(503)

    await service.sql.updateTable('deployment').set({ environment: 'production' }).execute()
    await proxy.comeBack()
    expect(await status(ping, authorized)).toBe(undefined)
    await until(async () => api.output().includes('This database belongs to a production deployment'))
    expect(await api.stop()).toBe(1)
    await proxy.close()
  })
})
