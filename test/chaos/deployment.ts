import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { connect } from '../../src/database/orm.ts'
import { type Sql, sqlOf } from '../../src/database/sql.ts'
import { applyRoles, migrateDeployment, provideLogin } from '../../src/database/schema.ts'
import type { Launched } from '../../src/embedded/launch.ts'
import { startService } from '../../src/embedded/sandbox.ts'
import { anyPort } from '../support/any-port.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { ownPostgres } from '../support/own-postgres.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import { asService } from '../support/template-database.ts'
import { sql as raw } from 'kysely'
import { makeBadBuild, product } from './bad-build.ts'
import { type Link, links, type Service, services } from './fault-plan.ts'
import { type Proxy, startProxy } from './proxy.ts'
import { victimOf } from './victims.ts'

const CLOCK = import.meta.resolve('./clock.ts')

/** More than the pools of all processes, and the connections whose end PostgreSQL has not noticed yet. */
const POSTGRES = ['max_connections=250']
/** Low, so that a whole journey takes several runs of its workflow. */
const TEMPORAL = ['limit.historyCount.suggestContinueAsNew=100']

/**
 * The service as in a deployment: two API processes and two workers that speak to PostgreSQL and Temporal through proxies.
 *
 * @param clock the wall clocks of all processes, and of PostgreSQL as they see it, can step.
 * @param onEnd is told of every process of the service that ends and was not killed.
 */
export async function deploy(clock: boolean, onEnd: (process: string, reason: string) => void) {
  const folder = temporaryFolder()
  const [postgres, temporal] = await Promise.all([ownPostgres(POSTGRES), ownTemporal(TEMPORAL)])
  const orm = await connect(postgres.url)
  const serviceUrl = asService(postgres.url)
  await migrateDeployment(orm, 'sandbox')
  await applyRoles(orm)
  await provideLogin(orm, serviceUrl)
  if (clock) await makeClock(sqlOf(orm), new URL(serviceUrl).username)
  const connection = await Connection.connect({ address: temporal.address })
  atEnd(async () => Promise.all([orm.close(), connection.close()]))
  const proxies = await startProxies({ postgres: postgres.url, temporal: `tcp://${temporal.address}` })
  const encryptionKey = randomBytes(32)
  const apiPorts = [await anyPort(), await anyPort()]
  const badBuild = makeBadBuild()
  /** What a process runs when it is started next. */
  const build = { folder: product }
  const ofEach = (suffix: string) =>
    Object.fromEntries(services.map((name) => [name, path.join(folder, `${name}.${suffix}`)]))
  const [logs, clocks] = [ofEach('log'), ofEach('clock')] as [
    Record<Service, string>,
    Record<Service, string>,
  ]

  function service(name: Service, port?: number) {
    const kind = name.startsWith('api') ? ('api' as const) : ('worker' as const)
    const environment = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ENVIRONMENT: 'sandbox',
      DATABASE_URL: through(serviceUrl, proxies[`${kind}-postgres`]),
      TEMPORAL_ADDRESS: `127.0.0.1:${proxies[`${kind}-temporal`].port}`,
      ENCRYPTION_KEY: encryptionKey.toString('base64'),
      WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
      DRAIN_SECONDS: '0',
      ...(port !== undefined && { PORT: String(port) }),
      ...(clock && { NODE_OPTIONS: `--import=${CLOCK}`, CHAOS_CLOCK: clocks[name] }),
    }
    const start = (onSpawn: (launched: Launched) => void) => {
      const entry = path.join(build.folder, 'src', kind === 'api' ? 'server.ts' : 'worker.ts')
      return startService({ name, entry, env: environment, logFile: logs[name], onSpawn })
    }
    return victimOf(start, (reason) => onEnd(name, reason))
  }

  const victims = {
    'api 1': service('api 1', apiPorts[0]),
    'api 2': service('api 2', apiPorts[1]),
    'worker 1': service('worker 1'),
    'worker 2': service('worker 2'),
    temporal,
    postgres,
  }
  return {
    sql: sqlOf(orm),
    client: new Client({ connection }),
    encryptionKey,
    apiPorts,
    proxies,
    victims,
    temporal,
    postgres,
    build,
    badBuild,
    clocks,
    /** For a command of staff, who go by no proxy. */
    staffEnvironment: {
      ENVIRONMENT: 'sandbox',
      DATABASE_URL: postgres.url,
      TEMPORAL_ADDRESS: temporal.address,
      ENCRYPTION_KEY: encryptionKey.toString('base64'),
      STAFF_NAME: 'chaos',
    },
    logs,
    startServices: () => Promise.all(services.map((name) => victims[name].start())),
  }
}

export type Deployment = Awaited<ReturnType<typeof deploy>>

/** The service finds this function in place of PostgreSQL's own. */
async function makeClock(sql: Sql, role: string): Promise<void> {
  const statements = `create schema chaos;
    create table chaos.clock as select interval '0' as ahead;
    create function chaos.clock_timestamp() returns timestamptz language sql volatile
      as 'select pg_catalog.clock_timestamp() + ahead from chaos.clock';
    grant usage on schema chaos to ${role};
    grant select on chaos.clock to ${role};
    alter role ${role} set search_path = chaos, public, pg_catalog`
  await raw.raw(statements).execute(sql)
}

async function startProxies(servers: Record<'postgres' | 'temporal', string>): Promise<Record<Link, Proxy>> {
  const started = links.map(async (link) => {
    const { hostname: host, port } = new URL(servers[link.endsWith('postgres') ? 'postgres' : 'temporal'])
    return [link, await startProxy({ host, port: Number(port) })]
  })
  return Object.fromEntries(await Promise.all(started)) as Record<Link, Proxy>
}

/** The same server's address, by way of the proxy. */
function through(url: string, { port }: Proxy): string {
  const by = new URL(url)
  by.port = String(port)
  return by.href
}
