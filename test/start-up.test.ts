import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import path from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { giveNamespace } from '../src/temporal/namespace-guard.ts'
import { anyPort } from './support/any-port.ts'
import { atEnd } from './support/at-end.ts'
import { temporaryFolder } from './support/folder.ts'
import { LEAD, leadsOf } from './support/leads.ts'
import { listen } from './support/listen.ts'
import { type Entry, runToEnd, type ServiceProcess } from './support/processes.ts'
import { holdRow } from './support/row-lock.ts'
import { prepareService, type Service, type TestPartner } from './support/service.ts'
import { temporalProxy } from './support/temporal-proxy.ts'
import { createDatabase, dropDatabase, withDatabase } from './support/template-database.ts'
import { until } from './support/until.ts'
import { whileBusy } from './support/while-busy.ts'

interface Refusal {
  entry: Entry
  environment: () => Promise<Record<string, string>> | Record<string, string>
  /** The whole line, from its first word to the remedy. */
  says: RegExp
}

let service: Service

/** A program that cannot start says why in one line, and what to do. */
describe('a program is not started', () => {
  const worker = 'src/worker.ts'
  const refusals: Record<string, Refusal> = {
    'while Temporal is away': {
      entry: worker,
      environment: async () => ({ TEMPORAL_ADDRESS: `127.0.0.1:${await anyPort()}`, STARTUP_SECONDS: '0' }),
      says: /^Temporal does not answer at 127\.0\.0\.1:\d+: start it, or correct TEMPORAL_ADDRESS; the connection uses plain text, .+ \(.+\)$/,
    },
    'with the namespace of another deployment': {
      entry: worker,
      environment: async () => {
        const { namespace, client } = await prepareService()
        await giveNamespace(client.workflowService, namespace, 'another')
        return { TEMPORAL_NAMESPACE: namespace }
      },
      says: /^Temporal’s namespace test-\w+ belongs to another deployment \(another\): set TEMPORAL_NAMESPACE to one of this deployment’s own, or, if that deployment is gone, run npm run setup-temporal -- --take-over\. For npm start, .+$/,
    },
    'while PostgreSQL is away': {
      entry: worker,
      environment: async () => ({
        DATABASE_URL: `postgresql://service:hidden@127.0.0.1:${await anyPort()}/referrals`,
        STARTUP_SECONDS: '0',
      }),
      says: /^PostgreSQL does not answer: start it, or correct DATABASE_URL \(.+127\.0\.0\.1:\d+\)$/,
    },
    'on a schema that is not migrated': {
      entry: worker,
      environment: async () => ({ DATABASE_URL: await emptyDatabase(), STARTUP_SECONDS: '0' }),
      says: /^The database’s schema is not the one that this version needs: run npm run migrate\. For npm start, .+$/,
    },
    'as an API, on the database of a production': {
      entry: 'src/server.ts',
      environment: async () => ({ DATABASE_URL: await productionDatabase() }),
      says: /^This database belongs to a production deployment, and ENVIRONMENT is sandbox: .+\.$/,
    },
    'without the key of what is stored': {
      entry: worker,
      environment: () => ({ ENCRYPTION_KEY: randomBytes(32).toString('base64') }),
      says: /^ENCRYPTION_KEY lacks the key [0-9a-f]{8}, under which data is stored: add it after the current one, .+$/,
    },
    'on a port that is in use': {
      entry: 'src/server.ts',
      environment: async () => ({ PORT: await usedPort() }),
      says: /^The API cannot listen on 127\.0\.0\.1:\d+: .+\. Free the port, or set PORT\.$/,
    },
    'with a TLS key that is none': {
      entry: 'src/server.ts',
      environment: () => notTls(),
      says: /^TLS_CERT_FILE or TLS_KEY_FILE cannot be used: .+$/,
    },
  }
  const outcomes: Record<string, Awaited<ReturnType<typeof runToEnd>>> = {}

  beforeAll(async () => {
    service = await prepareService()
    await service.addPartner()
    await Promise.all(
      Object.entries(refusals).map(async ([name, { entry, environment }]) => {
        const own = await environment()
        outcomes[name] = await runToEnd(entry, { ...service.environment, ...own })
      }),
    )
  }, 240_000)

  it.each(Object.keys(refusals))('%s', (name) => {
    const { code, stderr } = outcomes[name]!
    expect(stderr.trimEnd()).toMatch(refusals[name]!.says)
    expect(stderr.trimEnd()).not.toContain('\n')
    expect(stderr).not.toContain('hidden')
    expect(code).toBe(1)
  })
})

async function emptyDatabase(): Promise<string> {
  const { TEST_DATABASE_URL: server = '' } = process.env
  const name = `test_empty_${randomBytes(4).toString('hex')}`
  await createDatabase(server, name)
  atEnd(() => dropDatabase(server, name))
  return withDatabase(server, name)
}

async function productionDatabase(): Promise<string> {
  const other = await prepareService()
  await other.sql.updateTable('deployment').set({ environment: 'production' }).execute()
  return other.environment.DATABASE_URL
}

async function usedPort(): Promise<string> {
  const server = createServer()
  atEnd(async () => void server.close())
  return String(await listen(server))
}

function notTls() {
  const folder = temporaryFolder()
  const files = { TLS_CERT_FILE: path.join(folder, 'c.pem'), TLS_KEY_FILE: path.join(folder, 'k.pem') }
  for (const file of Object.values(files)) writeFileSync(file, 'no key')
  return files
}

describe('an API', () => {
  const probe = async ({ metricsPort }: Pick<ServiceProcess, 'metricsPort'>, name: string) => {
    const answer = await fetch(`http://127.0.0.1:${metricsPort}/${name}`)
    return `${answer.status} ${await answer.text()}`
  }

  it('starts though PostgreSQL and Temporal let it in nowhere, answers a ping, and says what is wrong once', async () => {
    const api = await service.startApi({
      DATABASE_URL: Object.assign(new URL(service.environment.DATABASE_URL), { password: 'hidden' }).href,
      TEMPORAL_ADDRESS: `127.0.0.1:${await anyPort()}`,
      METRICS_PORT: '0',
    })
    const password = /cannot be used: password authentication failed .*Correct DATABASE_URL/
    expect(await probe(api, 'readyz')).toMatch(new RegExp(`^503 .*${password.source}`))
    expect((await fetch(`http://127.0.0.1:${api.port}/v1/ping`)).status).toBe(200)
    const told = () => api.output().match(/Temporal does not answer at .*Leads are accepted/g)
    await until(async () => told() !== null && password.test(api.output()))
    expect(told()).toHaveLength(1)
    expect(api.output()).not.toContain('hidden')
  })

  it('that gets SIGTERM is unready at once, goes on answering, and ends when it has answered', async () => {
    const partner = await service.addPartner()
    const api = await service.startApiProcess({ DRAIN_SECONDS: '300', METRICS_PORT: '0' })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    atEnd(async () => agent.destroy())
    const createLead = async () => {
      const headers = { authorization: `Service-Key ${partner.key}`, 'content-type': 'application/json' }
      const asked = request({ agent, port: api.port, path: '/v1/create-lead', method: 'POST', headers })
      asked.end(JSON.stringify(LEAD))
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      await json(answer)
      return { status: answer.statusCode ?? 0, connection: answer.headers.connection }
    }
    expect(await whileBusy(createLead)).toEqual({ status: 200, connection: 'keep-alive' })
    process.kill(api.pid, 'SIGTERM')
    await until(async () => (await probe(api, 'readyz')) === '503 not ready: it is stopping\n')
    // on the connection from before
    expect(await whileBusy(createLead)).toEqual({ status: 200, connection: 'close' })
    const lock = await holdRow(service.sql, 'partners', `id = ${partner.id}`)
    const inFlight = createLead()
    await lock.reached()
    // a second signal does not let it wait for balancers
    const stopped = api.stop()
    await lock.release()
    expect(await inFlight).toEqual({ status: 200, connection: 'close' })
    expect(await stopped).toBe(0)
  })
})

describe('a worker', () => {
  it('serves the metrics of Temporal’s SDK, and ends on SIGTERM without cutting off a webhook in flight', async () => {
    const partner: TestPartner = await service.addPartner()
    const leads = leadsOf(service, partner)
    const sdkPort = await anyPort()
    const worker = await service.startWorkerProcess({ TEMPORAL_METRICS_PORT: String(sdkPort) })
    const answering = Promise.withResolvers<() => void>()
    partner.endpoint.answer = (_, response) => answering.resolve(() => void response.writeHead(200).end())
    const leadId = await leads.start()
    const answer = await answering.promise
    const metrics = await (await fetch(`http://127.0.0.1:${sdkPort}/metrics`)).text()
    expect(metrics).toContain('temporal_workflow_task_execution_latency')
    expect(metrics).not.toMatch(/lead-\d|example\.com/)
    const stopped = worker.stop()
    await until(async () => worker.output().includes('worker is stopping'))
    // longer than the activity that began it waits
    await delay(1500)
    answer()
    expect(await stopped).toBe(0)
    const delivery = service.sql.selectFrom('deliveries').select(['state', 'failures'])
    expect(await delivery.where('lead_id', '=', leadId).execute()).toEqual([
      { state: 'delivered', failures: 0 },
    ])
  })

  it('starts though Temporal takes too long to say whose the namespace is', async () => {
    let asked = 0
    const busy = await temporalProxy(process.env.TEST_TEMPORAL_ADDRESS ?? '', async (call) => {
      if (call === 'DescribeNamespace' && ++asked === 1) await new Promise(() => {})
    })
    const worker = await service.startWorkerProcess({ TEMPORAL_ADDRESS: busy })
    expect(await worker.stop()).toBe(0)
  })
})
