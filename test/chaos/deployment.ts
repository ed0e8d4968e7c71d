import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { migrateDeployment } from '../../src/core/record/statements/deployment.ts'
import { connect, sqlOf } from '../../src/core/database/orm.ts'
import { applyRoles, provideLogin } from '../../src/core/database/roles.ts'
import type { Launched } from '../../src/embedded/launch.ts'
import { startService } from '../../src/embedded/services.ts'
import { anyPort } from '../support/any-port.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { ownPostgres } from '../support/own-postgres.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import { asService } from '../support/template-database.ts'
import { type Link, links, type Target } from './fault-plan.ts'
import { type Proxy, startProxy } from './proxy.ts'
import { supervised, type Victim } from './victims.ts'

/** Above the pools of all processes, and the connections that a firewall forgot. */
const POSTGRES = ['max_connections=250']
/** So that whole journeys go through several runs. */
const TEMPORAL = ['limit.historyCount.suggestContinueAsNew=100']

/**
 * The service as in a deployment: two API processes and two workers that speak to PostgreSQL and Temporal through proxies.
 *
 * @param product the folder with its sources.
 * @param onEnd is told of every process of the service that ends and was not killed.
 */
export async function deploy(product: string, onEnd: (process: string, reason: string) => void) {
  const folder = temporaryFolder()
  const [postgres, temporal] = await Promise.all([ownPostgres(POSTGRES), ownTemporal(TEMPORAL)])
  const orm = await connect(postgres.url)
  await migrateDeployment(orm, 'sandbox')
  const serviceUrl = asService(postgres.url)
  await applyRoles(orm)
  await provideLogin(orm, serviceUrl)
  const connection = await Connection.connect({ address: temporal.address })
  atEnd(async () => Promise.all([orm.close(), connection.close()]))
  const proxies = await startProxies({ postgres: hostOf(postgres.url), temporal: `//${temporal.address}` })
  const encryptionKey = randomBytes(32)
  const apiPorts = [await anyPort(), await anyPort()]
  const logs: string[] = []
  /** What a process runs when it is started next. */
  const build = { folder: product }
  const metricsPorts: Partial<Record<Target, number>> = {}
  const sdkPorts = { 'worker 1': await anyPort(), 'worker 2': await anyPort() }

  async function service(name: Target, variables: Record<string, string>): Promise<Victim> {
    const kind = name.startsWith('api') ? ('api' as const) : ('worker' as const)
    const entry = () => path.join(build.folder, 'src', kind === 'api' ? 'server.ts' : 'worker.ts')
    const metricsPort = await anyPort()
    metricsPorts[name] = metricsPort
    const logFile = path.join(folder, `${name.replace(' ', '-')}.log`)
    logs.push(logFile)
    const environment = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ENVIRONMENT: 'sandbox',
      DATABASE_URL: through(serviceUrl, proxies[`${kind}-postgres`]),
      TEMPORAL_ADDRESS: `127.0.0.1:${proxies[`${kind}-temporal`].port}`,
      ENCRYPTION_KEY: encryptionKey.toString('base64'),
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      DRAIN_SECONDS: '0',
      METRICS_PORT: String(metricsPort),
      ...variables,
    }
    const start = (onSpawn: (launched: Launched) => void) =>
      startService({ name, entry: entry(), environment, logFile, onSpawn })
    return supervised(start, (reason) => onEnd(name, reason))
  }

  const victims: Record<Target, Victim> = {
    'api 1': await service('api 1', { PORT: String(apiPorts[0]) }),
    'api 2': await service('api 2', { PORT: String(apiPorts[1]) }),
    'worker 1': await service('worker 1', { TEMPORAL_METRICS_PORT: String(sdkPorts['worker 1']) }),
    'worker 2': await service('worker 2', { TEMPORAL_METRICS_PORT: String(sdkPorts['worker 2']) }),
    temporal,
    postgres,
  }
  return {
    orm,
    sql: sqlOf(orm),
    client: new Client({ connection }),
    encryptionKey,
    apiPorts,
    proxies,
    victims,
    temporal,
    postgres,
    build,
    metricsPorts,
    sdkPorts,
    /** For a command of staff, who go by no proxy. */
    staffEnvironment: {
      ENVIRONMENT: 'sandbox',
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: temporal.address,
      ENCRYPTION_KEY: encryptionKey.toString('base64'),
    },
    logs,
    startServices: () =>
      Promise.all((['api 1', 'api 2', 'worker 1', 'worker 2'] as const).map((name) => victims[name].start())),
  }
}

export type Deployment = Awaited<ReturnType<typeof deploy>>

async function startProxies(servers: Record<'postgres' | 'temporal', string>): Promise<Record<Link, Proxy>> {
  const started = links.map(async (link) => {
    const { hostname: host, port } = new URL(
      `tcp:${servers[link.endsWith('postgres') ? 'postgres' : 'temporal']}`,
    )
    return [link, await startProxy({ host, port: Number(port) })]
  })
  return Object.fromEntries(await Promise.all(started)) as Record<Link, Proxy>
}

const hostOf = (url: string) => `//${new URL(url).host}`

/** The same server's address, by way of the proxy. */
function through(url: string, { port }: Proxy): string {
  const by = new URL(url)
  by.port = String(port)
  return by.href
}
