import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { staff } from './staff/context.ts'
import { undoInitialMigration } from './support/former-migrations.ts'
import { runToEnd, type ServiceProcess } from './support/processes.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from './support/service.ts'
import { until } from './support/until.ts'

const REMEDY =
  'The database’s schema is older than this version needs (Migration20261126000000_initial is not applied): run npm run migrate.'

describe('a schema that is older than the code', () => {
  let service: Service
  let partner: TestPartner
  let api: ServiceProcess
  let refused: Awaited<ReturnType<typeof runToEnd>>
  let command: Awaited<ReturnType<typeof staff>>

  beforeAll(async () => {
    service = await prepareService({ METRICS_PORT: '0' })
    partner = await service.addPartner()
    await undoInitialMigration(service.sql)
    ;[api, refused, command] = await Promise.all([
      service.startApi(),
      // waits for ten seconds for somebody to migrate
      runToEnd('src/worker.ts', service.environment),
      staff(service.environment, ['partner', 'list']),
    ])
  })

  const readyz = async () => {
    const response = await fetch(`http://127.0.0.1:${api.metricsPort}/readyz`)
    return `${response.status} ${await response.text()}`
  }
  const getLead = () => partnerCalls(api.port, partner.key).post('get-lead', { lead_id: 1 })
  const linesOf = (output: string) => output.split('\n').filter((line) => line.includes(REMEDY))

  it('ends a worker in one line', () => {
    expect(refused).toMatchObject({ code: 1, stderr: `${REMEDY}\n` })
  })

  it('ends a staff command in one line', () => {
    expect(command).toEqual({ code: 1, stdout: '', stderr: `${REMEDY}\n` })
  })

  it('lets the API wait until it is migrated, answering 503 and saying so once', async () => {
    await until(async () => linesOf(api.output()).length > 0)
    expect(await readyz()).toBe('503 not ready: the schema is older, or a key is missing: see the log\n')
    expect(await getLead()).toMatchObject({ status: 503, body: { error: { code: 'SERVICE_UNAVAILABLE' } } })
    const ping = await fetch(`http://127.0.0.1:${api.port}/v1/ping`)
    expect(ping.status).toBe(200)

    const owner = { ...service.environment, DATABASE_URL: service.ownerUrl }
    expect(await runToEnd('src/migrate.ts', owner)).toMatchObject({ code: 0, stderr: '' })
    expect((await getLead()).status).toBe(404)
    expect(await readyz()).toBe('200 ready\n')
    expect(linesOf(api.output())).toHaveLength(1)
  })

  it('is not one that is newer', async () => {
    await raw`insert into mikro_orm_migrations (name) values ('Migration29990101000000_later')`.execute(
      service.sql,
    )
    expect(await staff(service.environment, ['partner', 'list'])).toMatchObject({ code: 0 })
    const later = await service.startApi()
    const answer = await fetch(`http://127.0.0.1:${later.metricsPort}/readyz`)
    expect(answer.status).toBe(200)
  })
})
