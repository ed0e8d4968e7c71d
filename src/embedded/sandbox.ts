import path from 'node:path'
import { processEnvironment, ConfigError, readConfig, type Config } from '../config.ts'
import type { Sandbox } from './banner.ts'
import { startDemoEndpoint } from './demo-endpoint.ts'
import { startMailCatcher } from './mail-catcher.ts'
import { freePort } from './ports.ts'
import { provideDatabase, provideTemporal, type ServerOptions } from './servers.ts'
import { startService } from './service.ts'
import { readSettings, saveSettings, type DemoPartner, type Settings } from './settings.ts'

interface SandboxOptions extends ServerOptions {
  /** Gets one line for each webhook. */
  print: (line: string) => void
}

/**
 * Starts what the environment does not name already, side by side, and the service on top of it.
 *
 * @returns where everything is, and the variables by which other commands find it.
 * @throws {Error} one line that says what could not be started, and the remedy.
 */
export async function startSandbox(
  options: SandboxOptions,
): Promise<{ sandbox: Sandbox; variables: Record<string, string> }> {
  const { dataDirectory, environment } = options
  const settings = readSettings(dataDirectory)
  const config = sandboxConfig(settings)
  const endpoint = await receiveWebhooks(settings, options)
  const mailFolder = path.join(dataDirectory, 'mail')
  const [database, temporal, smtpUrl] = await Promise.all([
    prepareDatabase(settings, endpoint.url, config, options),
    provideTemporal(options),
    environment.SMTP_URL || catchMails(mailFolder),
  ])
  const variables = {
    ENVIRONMENT: 'sandbox',
    HOST: '127.0.0.1',
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    ...(temporal.ui && { TEMPORAL_UI_URL: temporal.ui }),
    ENCRYPTION_KEY: environment.ENCRYPTION_KEY || settings.encryptionKey,
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    SMTP_URL: smtpUrl,
    STAFF_EMAIL: environment.STAFF_EMAIL || 'staff@example.com',
  }
  const api = await startProcesses(config.PORT, variables, options)
  const sandbox = {
    api,
    databaseUrl: database.url,
    temporalAddress: temporal.address,
    temporalNamespace: temporal.namespace,
    temporalUi: temporal.ui,
    mailFolder: environment.SMTP_URL ? undefined : mailFolder,
    dataDirectory,
    demo: database.demo,
  }
  return { sandbox, variables: { ...variables, API_URL: api } }
}

/** Faulty settings of the environment come to light before anything is started. */
function sandboxConfig({ encryptionKey }: Settings): Config {
  const toCome = { DATABASE_URL: 'postgresql://127.0.0.1', ENCRYPTION_KEY: encryptionKey }
  const config = readConfig({ ENVIRONMENT: 'sandbox', ...toCome })
  if (config.ENVIRONMENT === 'sandbox') return config
  throw new ConfigError(
    'npm start is the sandbox: unset ENVIRONMENT, or use npm run server and npm run worker.',
  )
}

async function receiveWebhooks(settings: Settings, { dataDirectory, print }: SandboxOptions) {
  const { demo } = settings
  // On the port of last time, so that the endpoint of the partner stays what it is.
  const port = await freePort(demo ? Number(new URL(demo.endpointUrl).port) : 3100)
  const logFile = path.join(dataDirectory, 'webhooks.jsonl')
  return startDemoEndpoint({ port, secret: () => settings.demo?.endpointSecret, print, logFile })
}

async function catchMails(folder: string): Promise<string> {
  const { url } = await startMailCatcher({ folder, port: await freePort(1025) })
  return url
}

async function prepareDatabase(
  settings: Settings,
  endpointUrl: string,
  { ENCRYPTION_KEY: encryptionKeys }: Config,
  options: SandboxOptions,
): Promise<{ url: string; demo: DemoPartner }> {
  // Loaded while PostgreSQL starts: MikroORM takes half a second.
  const [url, { connect, migrate }, { provideDemoPartner }] = await Promise.all([
    provideDatabase(settings.postgresPassword, options),
    import('../db/orm.ts'),
    import('./demo-partner.ts'),
  ])
  const orm = await connect(url)
  try {
    await migrate(orm)
    settings.demo = await provideDemoPartner(orm, { previous: settings.demo, endpointUrl, encryptionKeys })
    saveSettings(options.dataDirectory, settings)
    return { url, demo: settings.demo }
  } finally {
    await orm.close()
  }
}

/** The same two processes as in a deployment. */
async function startProcesses(
  preferredPort: number,
  variables: Record<string, string>,
  { dataDirectory, onSpawn }: SandboxOptions,
): Promise<string> {
  // A certificate is for a deployment; here it would not fit the address.
  const environment = { ...variables, TLS_CERT_FILE: '', TLS_KEY_FILE: '' }
  const port = String(await freePort(preferredPort))
  const [listening] = await Promise.all([
    startService({
      name: 'API',
      entry: path.join(import.meta.dirname, '../server.ts'),
      environment: processEnvironment({ ...environment, PORT: port }),
      logFile: path.join(dataDirectory, 'api.log'),
      onSpawn,
    }),
    startService({
      name: 'worker',
      entry: path.join(import.meta.dirname, '../worker.ts'),
      // Two processes cannot share one port.
      environment: processEnvironment({ ...environment, METRICS_PORT: '' }),
      logFile: path.join(dataDirectory, 'worker.log'),
      onSpawn,
    }),
  ])
  return `http://127.0.0.1:${listening ?? port}/v1`
}
