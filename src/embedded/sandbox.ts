import path from 'node:path'
import { ConfigError, readConfig } from '../config.ts'
import type { Sandbox } from './banner.ts'
import { startDemoEndpoint } from './demo-endpoint.ts'
import { startMailCatcher } from './mail-catcher.ts'
import { freePort } from './ports.ts'
import { planDatabase, type PlannedDatabase, type ServerOptions } from './servers.ts'
import { startOnTemporal, temporalVariables } from './service-processes.ts'
import { saveSettings, type DemoPartner, type Settings } from './settings.ts'

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
  const { dataDirectory, environment, settings } = options
  const { port, encryptionKeys } = checkSettings(settings, environment)
  const endpoint = await receiveWebhooks(options)
  const mailFolder = path.join(dataDirectory, 'mail')
  const smtpUrl = environment.SMTP_URL || (await catchMails(mailFolder))
  const database = await planDatabase(options)
  const variables = {
    ENVIRONMENT: 'sandbox',
    HOST: '127.0.0.1',
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: environment.ENCRYPTION_KEY || settings.encryptionKey,
    WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true',
    SMTP_URL: smtpUrl,
    // a server that the environment names may write to real people
    ...(!environment.SMTP_URL && { SMTP_CATCHER: 'true' }),
    STAFF_EMAIL: environment.STAFF_EMAIL || 'staff@example.com',
  }
  const [demo, running] = await Promise.all([
    prepareDatabase(database, endpoint.url, encryptionKeys, options).catch((error: unknown) => {
      throw new Error(unusableDatabase(database.url, error, environment), { cause: error })
    }),
    startOnTemporal(port, variables, options),
  ])
  const { api, temporal } = running
  return {
    sandbox: {
      api,
      databaseUrl: database.url,
      temporalAddress: temporal.address,
      temporalNamespace: temporal.namespace,
      temporalUi: temporal.ui,
      mailFolder: environment.SMTP_URL ? undefined : mailFolder,
      dataDirectory,
      demo,
    },
    variables: { ...variables, ...temporalVariables(temporal), API_URL: api },
  }
}

/** Faulty settings of the environment come to light before anything is started. */
function checkSettings({ encryptionKey }: Settings, { ENVIRONMENT: given }: NodeJS.ProcessEnv) {
  if (given && given !== 'sandbox') {
    throw new ConfigError(
      `npm start is the sandbox, and ENVIRONMENT is ${given}: unset it, or use npm run server and npm run worker.`,
    )
  }
  const toCome = {
    ENVIRONMENT: 'sandbox',
    DATABASE_URL: 'postgresql://127.0.0.1',
    ENCRYPTION_KEY: encryptionKey,
  }
  const { PORT: port } = readConfig('api', toCome)
  const { ENCRYPTION_KEY: encryptionKeys } = readConfig('worker', toCome)
  return { port, encryptionKeys }
}

async function receiveWebhooks({ dataDirectory, settings, print }: SandboxOptions) {
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
  database: PlannedDatabase,
  endpointUrl: string,
  encryptionKeys: readonly Buffer[],
  { dataDirectory, settings }: SandboxOptions,
): Promise<DemoPartner> {
  // Loaded while PostgreSQL starts: MikroORM takes half a second.
  const [{ connect }, { migrateDeployment }, { provideDemoPartner }] = await Promise.all([
    import('../db/orm.ts'),
    import('../db/deployment.ts'),
    import('./demo-partner.ts'),
    database.start(),
  ])
  const orm = await connect(database.url)
  try {
    await migrateDeployment(orm, 'sandbox')
    settings.demo = await provideDemoPartner(orm, { previous: settings.demo, endpointUrl, encryptionKeys })
    saveSettings(dataDirectory, settings)
    return settings.demo
  } finally {
    await orm.close()
  }
}

function unusableDatabase(url: string, error: unknown, { DATABASE_URL: given }: NodeJS.ProcessEnv): string {
  const { message } = error as Error
  if (!given) return message
  return `PostgreSQL at ${new URL(url).host} cannot be used: ${message}. Correct DATABASE_URL, or unset it to have one started.`
}
