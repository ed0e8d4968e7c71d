import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { requireDeployment } from '../../src/database/deployment.ts'
import { connect } from '../../src/database/orm.ts'
import { type Sql, sqlOf } from '../../src/database/sql.ts'
import { applyRoles, migrate, provideLogin } from '../../src/database/schema.ts'
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
import { load } from './dump.ts'
import { type Link, links, type Service, services } from './fault-plan.ts'
import { type Proxy, startProxy } from './proxy.ts'
import { supervised } from './victims.ts'

const CLOCK = import.meta.resolve('./clock.ts')

/** Above the pools of all processes, and the connections that a firewall forgot. */
const POSTGRES = ['max_connections=250']
/** So that whole journeys go through several runs. */
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
  /** Makes all that a new cluster needs; with what a dump has, if there is one. */
  async function prepareDatabase(dumped?: Parameters<typeof load>[1]): Promise<void> {
    // who migrates once remembers that
    const owner = await connect(postgres.url)
    await migrate(owner)
    if (dumped) await load(sqlOf(owner), dumped)
    await requireDeployment(sqlOf(owner), 'sandbox')
    await applyRoles(owner)
    await provideLogin(owner, serviceUrl)
    if (clock) await makeClock(sqlOf(owner), new URL(serviceUrl).username)
    await owner.close()
  }
  await prepareDatabase()
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
    return supervised(start, (reason) => onEnd(name, reason))
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
    orm,
    prepareDatabase,
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
