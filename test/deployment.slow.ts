import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { json } from 'node:stream/consumers'
import { connect as connectTls, type SecureVersion } from 'node:tls'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { atEnd } from './support/at-end.ts'
import { LEAD } from './support/leads.ts'
import { preload, type ServiceProcess } from './support/processes.ts'
import { holdRow } from './support/row-lock.ts'
import { prepareService, type Service, type TestPartner } from './support/service.ts'
import { makeCertificate } from './webhooks/certificate.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '..')

/** A client that never tires of a connection by itself. */
const agent = new Agent({ keepAlive: true })

/** The processes of a deployment side by side, with the environment that the compose file gives them. */
describe('a deployment', () => {
  let service: Service
  let partner: TestPartner
  let api: ServiceProcess
  let worker: ServiceProcess
  const { cert, key } = makeCertificate({ host: 'localhost' })

  beforeAll(async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'referrals-tls-'))
    atEnd(async () => rmSync(folder, { recursive: true }))
    const files = { TLS_CERT_FILE: path.join(folder, 'tls.crt'), TLS_KEY_FILE: path.join(folder, 'tls.key') }
    writeFileSync(files.TLS_CERT_FILE, cert)
    writeFileSync(files.TLS_KEY_FILE, key)
    service = await prepareService({ ...files, METRICS_PORT: '0' })
    partner = await service.addPartner()
    ;[api, worker] = await Promise.all([service.startApi(), service.startWorker()])
  })

  const runEntry = (entry: string, environment: Record<string, string> = {}) =>
    run(process.execPath, [...preload, path.join(root, entry)], {
      env: {
        ...service.environment,
        MIGRATION_DATABASE_URL: service.ownerUrl,
        ENCRYPTION_KEY: '',
        ...environment,
      },
    })

  function createLead(): Promise<{ status: number | undefined; body: unknown }> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Service-Key ${partner.key}`, 'content-type': 'application/json' }
      const options = {
        port: api.port,
        host: 'localhost',
        path: '/v1/create-lead',
        method: 'POST',
        ca: cert,
        headers,
        agent,
      }
      const sent = request(options, (answer) => {
        void json(answer).then((body) => resolve({ status: answer.statusCode, body }))
      })
      sent.on('error', reject).end(JSON.stringify(LEAD))
    })
  }

  function speak(version: SecureVersion): Promise<string | null> {
    return new Promise((resolve, reject) => {
      const options = { minVersion: version, maxVersion: version, ca: cert, ciphers: 'DEFAULT:@SECLEVEL=0' }
      const socket = connectTls({ port: api.port, host: 'localhost', ...options }, () => {
        resolve(socket.getProtocol())
        socket.destroy()
      })
      socket.on('error', reject)
    })
  }

  it('migrates and sets Temporal up with commands that can be repeated', async () => {
    expect((await runEntry('src/migrate.ts')).stdout).toBe('The schema is up to date.\n')
    const namespace = { TEMPORAL_NAMESPACE: `test-${randomBytes(6).toString('hex')}` }
    expect((await runEntry('src/setup-temporal.ts', namespace)).stdout).toMatch(
      /namespace \S+, [1-9] search attributes added/,
    )
    expect((await runEntry('src/setup-temporal.ts', namespace)).stdout).toContain(
      ', 0 search attributes added',
    )
  })

  it('takes leads over TLS and delivers their webhooks', async () => {
    expect(await createLead()).toMatchObject({ status: 200, body: { success: true } })
    await partner.endpoint.until((arrivals) => arrivals.length === 1)
  })

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('speaks %s', async (version) => {
    expect(await speak(version)).toBe(version)
  })

  it.each(['TLSv1', 'TLSv1.1'] as const)('refuses %s', async (version) => {
    await expect(speak(version)).rejects.toThrow(/protocol version|alert/i)
  })

  it.each(['livez', 'readyz'])('answers /%s of API and worker', async (probe) => {
    for (const { metricsPort } of [api, worker]) {
      const answer = await fetch(`http://127.0.0.1:${metricsPort}/${probe}`)
      expect(answer.status).toBe(200)
    }
  })

  it('ends the API without cutting off a request in flight', async () => {
    const lock = await holdRow(service.sql, 'partners', `id = ${partner.id}`)
    const answer = createLead()
    await lock.reached()
    const stopped = api.stop()
    await lock.release()
    expect(await answer).toMatchObject({ status: 200 })
    // its connection is not kept alive, or the process would wait for the client to tire of it
    const answered = Date.now()
    expect(await stopped).toBe(0)
    expect(Date.now() - answered).toBeLessThan(8000)
  })

  it('ends the worker without cutting off a webhook in flight', async () => {
    const answered = Promise.withResolvers<() => void>()
    partner.endpoint.answer = ({ event }, response) => {
      const answer = () => void response.writeHead(200).end()
      if (event.type === 'contract_signed') answered.resolve(answer)
      else answer()
    }
    const leadId = await service.sql
      .selectFrom('leads')
      .select('id')
      .orderBy('id')
      .executeTakeFirstOrThrow()
      .then(({ id }) => id)
    await service.referrals.signal(leadId, 'contract_signed')
    const answer = await answered.promise
    const stopped = worker.stop()
    answer()
    expect(await stopped).toBe(0)
    const delivery = await service.sql
      .selectFrom('deliveries')
      .select(['state', 'failures'])
      .where('lead_id', '=', leadId)
      .where('sequence', '=', 2)
      .executeTakeFirstOrThrow()
    expect(delivery).toEqual({ state: 'delivered', failures: 0 })
  })
})
