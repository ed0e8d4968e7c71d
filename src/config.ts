import { isIP } from 'node:net'
import path from 'node:path'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import packageJson from '../package.json' with { type: 'json' }
import { Refusal } from './fail.ts'
import { environments, NAME } from './values.ts'

// Kinds of values. Each error follows the name of the setting, and says what to write.

const text = z.string().min(1)
const flag = z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true')
const email = z.email('must be an email address')
const webUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })

const wholeNumber = (min: number, max: number, what: string) => {
  const error = `must be a ${what} from ${min} to ${max}`
  const digits = z.string(error).regex(/^ *\d{1,9} *$/, error)
  return digits.transform(Number).pipe(z.number().min(min, error).max(max, error))
}
const portFrom = (min: number) => wholeNumber(min, 65_535, 'port number')

const itemsOf = (list: string) => list.split(',').flatMap((item) => item.trim() || [])
const list = z.string().default('').transform(itemsOf)

const databaseUrl = z
  .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgresql:// URL' })
  .refine((url) => !/%(?![\da-f]{2})/i.test(url), 'has a % that stands for itself: write it as %25')
  .refine((url) => new URL(url).pathname.length > 1, 'must end with the name of the database')

/** Days, or `null` for `off`. */
const days = z
  .string()
  .regex(/^(?:off|[1-9]\d{0,4})$/, 'must be a whole number of days from 1 to 99999, or off')
  .transform((value) => (value === 'off' ? null : Number(value)))

/** One key or more, the newest first. */
const encryptionKeys = z
  .string()
  .transform((keys) => keys.split(',').map((key) => Buffer.from(key.trim(), 'base64')))
  .refine(
    (keys) => keys.every((key) => key.length === 32),
    'must be 32 bytes in base64 (openssl rand -base64 32), older keys after it, separated by commas',
  )

const footer = text
  .max(2000, 'must have at most 2000 characters, with \\n for a new line')
  .transform((lines) => lines.replaceAll(String.raw`\n`, '\n'))

const NO_PROXIES = 'must be addresses or networks of proxies, none wider than 10.0.0.0/8 or fc00::/7'

/** Whether `entry` may be a trusted proxy: an address, or a network that is not too wide. */
function isProxy(entry: string): boolean {
  const item = entry.trim()
  if (isIP(item) !== 0) return true
  if (!ipaddr.isValidCIDR(item)) return false
  const [network, bits] = ipaddr.parseCIDR(item)
  // the widest private networks
  return bits >= (network.kind() === 'ipv4' ? 8 : 7)
}

/** A host with a port or without one. */
const ADDRESS = /^(?:[^\s:/@[\]]+|\[[\da-f:.]+\])(?::(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-5]\d{3}))?$/i

// Every setting, under the programs that read it. Give a program only these, above all where they are secrets.

const everywhere = {
  ENVIRONMENT: z.enum(environments, 'must be sandbox or production'),
  DATABASE_URL: databaseUrl,
  ALLOW_PLAINTEXT: list.pipe(z.array(z.enum(['smtp', 'score_provider', 'database', 'temporal']))),
}

const processes = {
  HOST: text.default('127.0.0.1'),
  METRICS_PORT: portFrom(0).optional(),
  METRICS_HOST: text.default('127.0.0.1'),
  DATABASE_POOL: wholeNumber(5, 1000, 'whole number of connections').default(20),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  TEMPORAL_WORKER_BUILD_ID: text.optional(),
}

const secrets = {
  ENCRYPTION_KEY: encryptionKeys,
  WEBHOOK_ALLOW_PRIVATE_NETWORK: flag.default(false),
  ERASURE_LOG: text.refine((file) => path.isAbsolute(file), 'must be an absolute path').optional(),
}

/** How long data is kept, for the workers that remove it and for a dry run. */
const retention = { RETENTION_LEADS_DAYS: days.default(730), RETENTION_ATTEMPTS_DAYS: days.default(30) }

export const programs = {
  api: z.object({
    ...everywhere,
    ...processes,
    ...secrets,
    PORT: portFrom(0).default(3000),
    TLS_CERT_FILE: text.optional(),
    TLS_KEY_FILE: text.optional(),
    TRUST_PROXY: text.refine((proxies) => proxies.split(',').every(isProxy), NO_PROXIES).optional(),
    RATE_LIMIT: wholeNumber(0, 999_999_999, 'whole number of requests a minute').optional(),
    DRAIN_SECONDS: wholeNumber(0, 300, 'whole number of seconds').default(5),
    SINK_URL: webUrl.optional(),
  }),
  worker: z.object({
    ...everywhere,
    ...processes,
    ...secrets,
    ...retention,
    SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// URL' }).optional(),
    MAIL_FROM: text.default('Partner Referral Service <no-reply@localhost>'),
    MAIL_REPLY_TO: email.optional(),
    MAIL_FOOTER: footer.optional(),
    MAIL_ALLOW_DOMAINS: list.transform((domains) => domains.map((domain) => domain.toLowerCase())),
    STAFF_EMAIL: email.optional(),
    SCORE_PROVIDER_URL: webUrl.optional(),
    SCORE_PROVIDER_TOKEN: text.optional(),
    SCORE_PROVIDER_RATE: wholeNumber(0, 100_000, 'whole number of requests a second').default(0),
    STARTUP_SECONDS: wholeNumber(0, 3600, 'whole number of seconds').default(10),
    WORKER_WORKFLOW_TASKS: wholeNumber(2, 10_000, 'whole number').default(20),
    TEMPORAL_METRICS_PORT: portFrom(1).optional(),
  }),
  staff: z.object({
    ...everywhere,
    ...secrets,
    // most commands decrypt nothing
    ENCRYPTION_KEY: encryptionKeys.optional(),
    ...retention,
    STAFF_NAME: z.string().regex(NAME, 'must be a name of 1 to 100 characters').optional(),
    TEMPORAL_UI_URL: webUrl.optional(),
  }),
  migrate: z.object({ ...everywhere, MIGRATION_DATABASE_URL: databaseUrl.optional() }),
  'setup-temporal': z.object(everywhere),
}

/** Read by all programs but migrate. @temporalio/envconfig also reads its own variables for TLS and API keys. */
const temporal = z.object({
  TEMPORAL_ADDRESS: z.string().regex(ADDRESS, 'must be a host with its port, such as temporal:7233'),
  TEMPORAL_NAMESPACE: text.default('default'),
})

/** What docs/settings.md says of each, in its order. `npm run openapi` prints it. */
const meanings = {
  ENVIRONMENT: '`sandbox` or `production`',
  DATABASE_URL: 'PostgreSQL, as the service’s role, which owns nothing',
  MIGRATION_DATABASE_URL: 'the same database, as its owner; without it, `DATABASE_URL` must name the owner',
  DATABASE_POOL: 'maximum number of connections of each process to PostgreSQL',
  TEMPORAL_ADDRESS: 'Temporal’s host and port',
  TEMPORAL_NAMESPACE: 'the namespace; each deployment needs its own',
  ENCRYPTION_KEY: 'encrypts personal data and secrets: 32 bytes in base64; older keys follow after commas',
  ALLOW_PLAINTEXT: 'connections without TLS in production: `smtp`, `score_provider`, `database`, `temporal`',
  HOST: 'the address that the API listens on',
  PORT: 'the port of the API; `0` picks a free one',
  TLS_CERT_FILE: 'certificate (PEM), to serve TLS without a proxy',
  TLS_KEY_FILE: 'the certificate’s key (PEM)',
  TRUST_PROXY: 'addresses or networks of your TLS proxies, comma-separated; production needs this or TLS',
  RATE_LIMIT: 'requests a minute of each partner and address; by default 600 in production, else 0 (none)',
  DRAIN_SECONDS: 'how long the API takes requests after SIGTERM, while balancers see 503 on `/readyz`',
  SINK_URL: 'in a sandbox: this API’s address as the worker reaches it, so that partners can use its sink',
  WEBHOOK_ALLOW_PRIVATE_NETWORK: '`true` allows webhooks to private addresses; `HOST` must be loopback',
  METRICS_PORT: 'the port of `/livez`, `/readyz`, `/healthz` and `/metrics`; without it, none is opened',
  METRICS_HOST: 'the address of `METRICS_PORT`; metrics need no key',
  TEMPORAL_METRICS_PORT: 'the port at `METRICS_HOST` for metrics of Temporal’s SDK; none by default',
  LOG_LEVEL: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
  SMTP_URL: 'the mail server; required in production; without it, a sandbox sends no emails',
  MAIL_FROM: 'the sender; in production, at a domain of yours',
  MAIL_REPLY_TO: 'where borrowers’ replies go; required in production',
  MAIL_FOOTER: 'the end of emails to borrowers, with your postal address; required in production',
  MAIL_ALLOW_DOMAINS:
    'domains that a sandbox may email, comma-separated; `*` if `SMTP_URL` is a mail catcher',
  STAFF_EMAIL: 'gets emails about failing and changed endpoints, as the partner does; required in production',
  SCORE_PROVIDER_URL: 'where score gains come from; required in production; a sandbox can make them up',
  SCORE_PROVIDER_TOKEN: 'the score provider’s bearer token',
  SCORE_PROVIDER_RATE: 'requests a second to the score provider, over all workers; `0` is no limit',
  ERASURE_LOG: 'the file of the erasure log, outside PostgreSQL’s disk; required in production',
  RETENTION_LEADS_DAYS: 'days from a lead’s end until it is erased; `off` keeps leads',
  RETENTION_ATTEMPTS_DAYS: 'days until endpoints’ answers are deleted; `off` keeps them',
  STARTUP_SECONDS: 'how long a starting worker waits for Temporal, PostgreSQL and a migration',
  WORKER_WORKFLOW_TASKS: 'workflow tasks at a time; 6 if Temporal is on the same machine',
  TEMPORAL_WORKER_BUILD_ID: 'the build, such as `2026-11-21.1`; on a worker, it turns on Worker Versioning',
  STAFF_NAME: 'the name of the person who acts, for the audit; without it, commands need `--as NAME`',
  TEMPORAL_UI_URL: 'the Web UI’s address, for links that commands print',
}

/** The rows of docs/settings.md: name, programs, default, meaning. */
export function settingsRows(): string[][] {
  const readers = Object.entries({ ...programs, 'all but migrate': temporal })
  return Object.entries(meanings).map(([name, meaning]) => {
    const reading = readers.filter(([, { shape }]) => name in shape)
    const schemas = reading.map(([, { shape }]) => (shape as Record<string, z.ZodType>)[name])
    const { success, data } = schemas[0]?.safeParse(undefined) ?? {}
    const byDefault = ['string', 'number', 'boolean'].includes(typeof data) ? `\`${String(data)}\`` : '–'
    const readBy =
      reading.length === readers.length - 1 ? 'all' : reading.map(([program]) => program).join(', ')
    return [`\`${name}\``, readBy, success ? byDefault : 'required', meaning]
  })
}

export type Program = keyof typeof programs
export type Config<Name extends Program> = z.output<(typeof programs)[Name]>
/** The settings of any program. */
type Settings = Partial<Config<'api'> & Config<'worker'> & Config<'migrate'>>

/**
 * The configuration of `program`, from `environment` over `defaults`. An empty variable counts as unset, because compose
 * files and CI systems pass empty ones. Variables that the program does not read are ignored.
 *
 * @throws {Refusal} one line that names every faulty variable and what it needs; no secret is repeated.
 */
export function readConfig<Name extends Program>(
  program: Name,
  defaults: Record<string, string> = {},
  environment: NodeJS.ProcessEnv = process.env,
): Config<Name> {
  const config = parse(programs[program], { ...defaults, ...withoutEmpty(environment) }) as Config<Name>
  const faults = faultsIn(program, config)
  if (faults.length > 0) throw refusal(faults)
  return config
}

function parse<Schema extends z.ZodObject>(schema: Schema, given: Record<string, string>): z.output<Schema> {
  const { success, data, error } = schema.safeParse(given)
  if (success) return data
  const faults = error.issues.map(({ path: [first], code, message }) => {
    const name = String(first)
    return [name, code !== 'custom' && given[name] === undefined ? 'is not set' : message] as Fault
  })
  throw refusal(faults)
}

function withoutEmpty(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value?.trim() ? [[name, value]] : [])),
  )
}

/** A setting to change, and what is wrong with it. */
type Fault = readonly [name: string, message: string]

function refusal(faults: readonly Fault[]): Refusal {
  const lines = faults.map(([name, message]) => `${name} ${message}`)
  return new Refusal(`Configuration: ${lines.join('; ')}. See docs/settings.md.`)
}

/** Production handles real people’s data, so these have no default there. */
const REQUIRED_IN_PRODUCTION = {
  SMTP_URL: 'onboarding emails need a mail server',
  MAIL_REPLY_TO: 'name the address for borrowers’ replies',
  MAIL_FOOTER: 'emails must end with your postal address, and say how to unsubscribe',
  STAFF_EMAIL: 'staff get emails about changed and failing endpoints',
  SCORE_PROVIDER_URL: 'scores are never invented',
  ERASURE_LOG: 'name a file outside the database’s disk, so that a restored backup can be erased again',
}

/** Connections that need TLS in production, unless ALLOW_PLAINTEXT names them. */
const encrypted = [
  ['SMTP_URL', 'smtp', isPlainSmtp, 'use smtps://, or require STARTTLS by adding ?requireTLS=true'],
  [
    'SCORE_PROVIDER_URL',
    'score_provider',
    (url: string) => new URL(url).protocol === 'http:',
    'use https://',
  ],
  ['DATABASE_URL', 'database', isPlainDatabase, 'add ?sslmode=verify-full'],
  ['MIGRATION_DATABASE_URL', 'database', isPlainDatabase, 'add ?sslmode=verify-full'],
] as const

/** What is missing or unsafe in settings that are each well-formed. */
function faultsIn(program: Program, settings: Settings): Fault[] {
  const { HOST: host = '127.0.0.1', TLS_CERT_FILE: cert, TLS_KEY_FILE: key } = settings
  const isProduction = settings.ENVIRONMENT === 'production'
  const isExposed = isProduction || !isLoopback(host)
  const faults: Fault[] = []
  if ((cert === undefined) !== (key === undefined))
    faults.push(['TLS_CERT_FILE', 'and TLS_KEY_FILE go together: set both or neither'])
  if (isExposed && program === 'api' && (cert ?? key ?? settings.TRUST_PROXY) === undefined)
    faults.push(['TRUST_PROXY', 'is not set: name your TLS proxy, or set TLS_CERT_FILE and TLS_KEY_FILE'])
  if (isExposed && settings.WEBHOOK_ALLOW_PRIVATE_NETWORK)
    faults.push(['WEBHOOK_ALLOW_PRIVATE_NETWORK', 'is for a sandbox on loopback only: unset it'])
  if (!isProduction) return faults
  for (const [name, why] of Object.entries(REQUIRED_IN_PRODUCTION)) {
    const isMissing = name in programs[program].shape && settings[name as keyof Settings] === undefined
    if (isMissing) faults.push([name, `is required in production: ${why}`])
  }
  for (const [name, connection, isPlain, remedy] of encrypted) {
    const { [name]: url, ALLOW_PLAINTEXT: allowed = [] } = settings
    if (url !== undefined && isPlain(url) && !allowed.includes(connection))
      faults.push([name, `may send in plain text: ${remedy}, or set ALLOW_PLAINTEXT=${connection}`])
  }
  if (settings.MAIL_FROM && !/@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}>?$/i.test(settings.MAIL_FROM))
    faults.push(['MAIL_FROM', 'must be at a domain of yours, such as Referrals <no-reply@example.com>'])
  return faults
}

/** Whether a host, in a setting or a URL, is this machine. Names other than localhost are not resolved. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || /^\[?::1\]?$/.test(host) || /^127(\.\d{1,3}){3}$/.test(host)
}

/** nodemailer falls back to plain text if the server does not offer STARTTLS, unless `requireTLS` is true. */
function isPlainSmtp(url: string): boolean {
  const { protocol, searchParams } = new URL(url)
  return protocol === 'smtp:' && searchParams.get('requireTLS') !== 'true'
}

/** Whether PostgreSQL is reached over a network without TLS. */
function isPlainDatabase(url: string): boolean {
  const { hostname, searchParams } = new URL(url)
  // node-postgres takes the last value, and prefers a host in the query to that of the URL
  const last = (name: string) => searchParams.getAll(name).at(-1) ?? ''
  const host = last('host') || decodeURIComponent(hostname)
  const isLocal = isLoopback(host) || host.startsWith('/')
  // the modes with which node-postgres 8 and libpq both require TLS
  return !isLocal && !['require', 'verify-ca', 'verify-full'].includes(last('sslmode'))
}

/**
 * Where Temporal is, and how to connect to it.
 *
 * @param config says whether the connection needs TLS; without it, plain text is accepted.
 * @throws {Refusal} one line that says what to change.
 */
export function readTemporal(
  config: Pick<Config<'setup-temporal'>, 'ENVIRONMENT' | 'ALLOW_PLAINTEXT'> | undefined,
  environment: NodeJS.ProcessEnv = process.env,
) {
  const given = withoutEmpty(environment)
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } = parse(temporal, given)
  const isLocal = isLoopback(address.replace(/:\d+$/, ''))
  const connectionOptions = loadConnection(given)
  if (config?.ENVIRONMENT === 'production') {
    const unverified = 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'
    if (/^(true|1)$/.test(given[unverified] ?? ''))
      throw refusal([[unverified, 'is for tests: unset it, because any server could be taken for Temporal']])
    if (!connectionOptions.tls && !isLocal && !config.ALLOW_PLAINTEXT.includes('temporal')) {
      const remedy = 'set TEMPORAL_TLS=true, or ALLOW_PLAINTEXT=temporal'
      throw refusal([['TEMPORAL_ADDRESS', `would be reached in plain text: ${remedy}`]])
    }
  }
  const channelArgs = {
    // by default, the client waits another minute after an outage of a minute and a half
    'grpc.max_reconnect_backoff_ms': 5000,
    // the client would use the environment’s proxy for this machine, too
    ...(isLocal && { 'grpc.enable_http_proxy': 0 }),
  }
  return { connectionOptions: { ...connectionOptions, channelArgs, address }, namespace }
}

export type TemporalSettings = ReturnType<typeof readTemporal>

function loadConnection(overrideEnvVars: Record<string, string>) {
  try {
    return loadClientConnectConfig({ overrideEnvVars, disableFile: true }).connectionOptions
  } catch (error) {
    throw new Refusal(`Configuration: Temporal’s settings cannot be read: ${(error as Error).message}`)
  }
}

/** Which code a process runs, for its metrics and its log; `build` is the id for Worker Versioning, or the version. */
export function readBuild({ TEMPORAL_WORKER_BUILD_ID: id }: Pick<Settings, 'TEMPORAL_WORKER_BUILD_ID'>) {
  const { version } = packageJson
  return { version, build: id ?? version }
}

export type Build = ReturnType<typeof readBuild>

/** A copy of the environment, for child processes and for libraries that read variables of their own. */
export const processEnvironment = (): NodeJS.ProcessEnv => ({ ...process.env })
