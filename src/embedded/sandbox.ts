import path from 'node:path'
import { readConfig } from '../config.ts'
import { type DemoPartner, postgresFolder, readSettings, saveSettings } from './data-directory.ts'
import { startDemoEndpoint } from './demo-endpoint.ts'
import { freePort, launch, type LaunchOptions, type SandboxOptions } from './launch.ts'
import { startMailCatcher } from './mail-catcher.ts'
import { postgresUrl, startPostgres } from './postgres.ts'
import { planTemporal } from './temporal.ts'

export interface Sandbox {
  demo: DemoPartner
  dataDirectory: string
  /** The environment variables by which other commands find it; API_URL is `http://127.0.0.1:3000/v1`. */
  variables: Record<string, string>
}

/** What the environment may replace. */
const DEFAULTS = {
  // Temporal on this machine answers at once: further tasks would wait inside the worker, in no fair order
  WORKER_WORKFLOW_TASKS: '6',
  // on a slow disk, the first start takes long to make the database
  STARTUP_SECONDS: '120',
  // no balancer has to notice
  DRAIN_SECONDS: '0',
  STAFF_EMAIL: 'staff@example.com',
}

const FIXED = {
  ENVIRONMENT: 'sandbox',
  WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
  // SMTP_URL is a catcher
  MAIL_ALLOW_DOMAINS: '*',
  // loopback in plain HTTP, whatever the environment says for deployments, or for a shell that sets HOST
  HOST: '127.0.0.1',
  TLS_CERT_FILE: '',
  TLS_KEY_FILE: '',
  TRUST_PROXY: '',
}

/**
 * Starts in parallel what the environment does not name already, and the service on top of it.
 *
 * @throws {Error} one line that says what could not be started, and what to do.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { dataDirectory, environment, onSpawn } = options
  const settings = readSettings(dataDirectory)
  const postgres = {
    folder: postgresFolder(dataDirectory),
    port: await freePort(5433),
    password: settings.postgresPassword,
    logFile: path.join(dataDirectory, 'postgres.log'),
    onSpawn,
  }
  const given = {
    // ours has no TLS, which PGSSLMODE could ask for
    DATABASE_URL: environment.DATABASE_URL || `${postgresUrl(postgres)}?sslmode=disable`,
    ENCRYPTION_KEY: environment.ENCRYPTION_KEY || settings.encryptionKey,
    // outside PostgreSQL's folder: a restored copy of that is erased again by this log
    ERASURE_LOG: path.resolve(environment.ERASURE_LOG || path.join(dataDirectory, 'erasures.jsonl')),
    ...FIXED,
  }
  // finds what is wrong before anything is started
  const { PORT } = readConfig('api', {}, { ...environment, ...given })
  const port = environment.PORT && PORT !== 0 ? PORT : await freePort(PORT)
  const temporal = await planTemporal(options)
  const mail = await startMailCatcher(path.join(dataDirectory, 'mail'), await freePort(1025))
  const API_URL = `http://127.0.0.1:${port}/v1`
  const variables = { ...given, SMTP_URL: mail.url, ...temporal.variables, API_URL }
  const start = (name: string, entry: string, own: Record<string, string>) => {
    const logFile = path.join(dataDirectory, `${name.toLowerCase()}.log`)
    const env = { ...DEFAULTS, ...environment, ...variables, ...own }
    return startService({ name, entry, env, logFile, onSpawn })
  }
  // all at once: the programs load while the servers start, and retry until those answer
  const [demo] = await Promise.all([
    prepareDatabase(options, variables, environment.DATABASE_URL ? undefined : startPostgres(postgres)),
    temporal.start(),
    start('API', 'server.ts', { PORT: String(port) }),
    // two processes cannot share a port for their metrics
    start('worker', 'worker.ts', { METRICS_PORT: '' }),
  ])
  return { demo, dataDirectory, variables }
}

/** The schema, and a demo partner whose webhooks are received here. */
async function prepareDatabase(
  { dataDirectory, environment, print }: SandboxOptions,
  variables: { DATABASE_URL: string; ENCRYPTION_KEY: string },
  starting: Promise<unknown> | undefined,
): Promise<DemoPartner> {
  const { DATABASE_URL, ENCRYPTION_KEY: encryptionKeys } = readConfig('worker', {}, variables)
  const settings = readSettings(dataDirectory)
  const previous = settings.demo
  try {
    // loaded while PostgreSQL starts, because MikroORM takes half a second
    const [{ connect }, { sqlOf }, { migrateDeployment }, { provideDemoPartner, secretsOf }] =
      await Promise.all([
        import('../database/orm.ts'),
        import('../database/sql.ts'),
        import('../database/schema.ts'),
        import('./demo-partner.ts'),
        starting,
      ])
    const orm = await connect(DATABASE_URL)
    const sql = sqlOf(orm)
    await migrateDeployment(orm, 'sandbox')
    const { url: endpointUrl } = await startDemoEndpoint({
      // the previous start's port, because the partner's endpoint names it
      port: await freePort(previous ? Number(new URL(previous.endpointUrl).port) : 3100),
      secretsOf: (url) => secretsOf(sql, url, encryptionKeys),
      print,
    })
    const demo = await provideDemoPartner(sql, previous, { endpointUrl, encryptionKeys })
    saveSettings(dataDirectory, { ...settings, demo })
    return demo
  } catch (error) {
    const remedy = environment.DATABASE_URL && ' Correct DATABASE_URL, or unset it to have a server started.'
    throw new Error(`PostgreSQL cannot be used: ${(error as Error).message}.${remedy ?? ''}`, {
      cause: error,
    })
  }
}

/** Starts a program of the service, `server.ts` or `worker.ts`, as a deployment does, and waits until it serves. */
export function startService(options: Omit<LaunchOptions, 'command' | 'args'> & { entry: string }) {
  const [preload = '', entry = ''] = ['preload.cjs', options.entry].map((file) =>
    path.resolve(import.meta.dirname, '..', file),
  )
  return launch({ ...options, command: process.execPath, args: ['--require', preload, entry] })
}
