import path from 'node:path'
import { ConfigError, readConfig } from '../config.ts'
import type { Sql } from '../core/database/orm.ts'
import { type DemoPartner, postgresFolder, saveSettings } from './data-directory.ts'
import { startDemoEndpoint } from './demo-endpoint.ts'
import { demoSecrets } from './demo-secrets.ts'
import { startMailCatcher } from './mail-catcher.ts'
import { apiPort, freePort } from './ports.ts'
import { planDatabase, type ServerOptions } from './servers.ts'
import { startServices } from './services.ts'

/** What a room does with a database that nothing serves yet. */
type OnceMigrated = (sql: Sql, settings: { apiUrl: string }) => Promise<unknown>

interface SandboxOptions extends ServerOptions {
  /** Gets one line for each webhook. */
  print: (line: string) => void
  /** Loads what rooms do once the schema is up to date. */
  onceMigrated: readonly (() => Promise<OnceMigrated>)[]
}

export interface Sandbox {
  demo: DemoPartner
  /** Where its webhooks go. */
  webhooksTo: string
  dataDirectory: string
  /** Where our PostgreSQL keeps its data, if that is elsewhere. */
  postgresData: string | undefined
  /** The environment variables by which other commands find it; API_URL is `http://127.0.0.1:3000/v1`. */
  variables: Record<string, string>
}

/** It listens on loopback in plain HTTP, whatever the environment says for deployments, or for a shell that sets HOST. */
const LOCAL = { HOST: '127.0.0.1', TLS_CERT_FILE: '', TLS_KEY_FILE: '', TRUST_PROXY: '' }

/**
 * Starts in parallel what the environment does not name already, and the service on top of it.
 *
 * @throws {Error} one line that says what could not be started, and what to do.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { dataDirectory, environment, settings } = options
  const { port: wanted, encryptionKeys } = checkSettings(options)
  const port = await apiPort(wanted, options)
  const database = await planDatabase(options)
  const endpointUrl = await receiveWebhooks(options, database.url, encryptionKeys)
  const variables = {
    ENVIRONMENT: 'sandbox',
    ...LOCAL,
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: environment.ENCRYPTION_KEY || settings.encryptionKey,
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    ...(await receiveMails(options)),
    // they share the machine with Temporal: more would only slow down create-lead
    STARTS_IN_FLIGHT: environment.STARTS_IN_FLIGHT || '1',
    // Temporal answers at once: what a worker has taken beyond these waits inside of it, where nobody takes turns
    WORKER_WORKFLOW_TASKS: environment.WORKER_WORKFLOW_TASKS || '6',
    // on a slow disk, the first start takes long to make the database; if a server ends, npm start ends all
    STARTUP_SECONDS: environment.STARTUP_SECONDS || '3600',
    // nobody balances over it
    DRAIN_SECONDS: environment.DRAIN_SECONDS || '0',
    STAFF_EMAIL: environment.STAFF_EMAIL || 'staff@example.com',
    ERASURE_LOG: erasureLogOf(options),
  }
  const [provided, services] = await Promise.all([
    prepareDatabase(
      database,
      { endpointUrl, apiUrl: `http://127.0.0.1:${port}/v1` },
      encryptionKeys,
      options,
    ),
    startServices(port, variables, options),
  ])
  const postgresData = environment.DATABASE_URL ? undefined : folderOutside(dataDirectory)
  return { ...provided, dataDirectory, postgresData, variables: { ...variables, ...services } }
}

function folderOutside(dataDirectory: string): string | undefined {
  const folder = postgresFolder(dataDirectory)
  return folder.startsWith(dataDirectory) ? undefined : folder
}

/** Outside PostgreSQL's folder, whose copies it is for. */
const erasureLogOf = ({ dataDirectory, environment }: SandboxOptions) =>
  path.resolve(environment.ERASURE_LOG || path.join(dataDirectory, 'erasures.jsonl'))

/** Finds faulty settings before anything is started. */
function checkSettings(options: SandboxOptions) {
  const { environment, settings } = options
  const { ENVIRONMENT: name } = environment
  if (name && name !== 'sandbox') {
    throw new ConfigError(
      `npm start is the sandbox, and ENVIRONMENT is ${name}: unset it, or use npm run server and npm run worker.`,
    )
  }
  const defaults = {
    ENVIRONMENT: 'sandbox',
    DATABASE_URL: 'postgresql://127.0.0.1/referrals',
    ENCRYPTION_KEY: settings.encryptionKey,
  }
  const given = { ...environment, ...LOCAL }
  const { PORT: port } = readConfig('api', defaults, given)
  const { ENCRYPTION_KEY: encryptionKeys } = readConfig('worker', defaults, {
    ...given,
    ERASURE_LOG: erasureLogOf(options),
  })
  return { port, encryptionKeys }
}

async function receiveWebhooks(
  { dataDirectory, settings, print }: SandboxOptions,
  databaseUrl: string,
  encryptionKeys: readonly Buffer[],
): Promise<string> {
  const { demo } = settings
  // the port of the previous start, because the partner's endpoint names it
  const port = await freePort(demo ? Number(new URL(demo.endpointUrl).port) : 3100)
  const logFile = path.join(dataDirectory, 'webhooks.jsonl')
  const { url } = await startDemoEndpoint({
    port,
    secret: () => settings.demo?.endpointSecret,
    otherSecrets: demoSecrets(databaseUrl, encryptionKeys),
    print,
    logFile,
  })
  return url
}

async function receiveMails({ dataDirectory, environment }: SandboxOptions): Promise<Record<string, string>> {
  // this server may deliver to real people
  if (environment.SMTP_URL) return { SMTP_URL: environment.SMTP_URL }
  const { url } = await startMailCatcher(path.join(dataDirectory, 'mail'), await freePort(1025))
  return { SMTP_URL: url, SMTP_CATCHER: 'true' }
}

async function prepareDatabase(
  { url, start }: Awaited<ReturnType<typeof planDatabase>>,
  { endpointUrl, apiUrl }: { endpointUrl: string; apiUrl: string },
  encryptionKeys: readonly Buffer[],
  { dataDirectory, environment, settings, report, onceMigrated }: SandboxOptions,
): Promise<Pick<Sandbox, 'demo' | 'webhooksTo'>> {
  try {
    // loaded while PostgreSQL starts, because MikroORM takes half a second
    const [{ connect, sqlOf }, { migrateDeployment }, { provideDemoPartner }, steps] = await Promise.all([
      import('../core/database/orm.ts'),
      import('../core/record/statements/deployment.ts'),
      import('./demo-partner.ts'),
      Promise.all(onceMigrated.map((load) => load())),
      start(),
    ])
    const orm = await connect(url)
    try {
      await migrateDeployment(orm, 'sandbox')
      for (const step of steps) await step(sqlOf(orm), { apiUrl })
      const previous = settings.demo
      const provided = await provideDemoPartner(orm, { previous, endpointUrl, encryptionKeys, report })
      settings.demo = provided.demo
      saveSettings(dataDirectory, settings)
      return provided
    } finally {
      await orm.close()
    }
  } catch (error) {
    if (!environment.DATABASE_URL) throw error
    const line = `PostgreSQL at ${new URL(url).host} cannot be used: ${(error as Error).message}. Correct DATABASE_URL, or unset it to have a server started.`
    throw new Error(line, { cause: error })
  }
}
