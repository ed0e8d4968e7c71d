import { accessSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import path from 'node:path'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { environments, STAFF_NAME } from './values.ts'

/** The connections that may use plain text, by the names that ALLOW_PLAINTEXT takes. */
export const plainTextWays = ['smtp', 'score_provider', 'database', 'temporal'] as const
export type PlainTextWay = (typeof plainTextWays)[number]

/** Whether a host, in a setting or a URL, is this machine. Names other than localhost are not resolved. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || /^\[?::1\]?$/.test(host) || /^127(\.\d{1,3}){3}$/.test(host)
}

/**
 * Whether emails may be sent without TLS: if the server does not offer STARTTLS, nodemailer falls back to plain text,
 * unless `requireTLS` is true, which overrides its other options.
 */
function isPlainSmtp(url: string): boolean {
  const { protocol, searchParams } = new URL(url)
  return protocol === 'smtp:' && searchParams.get('requireTLS') !== 'true'
}

/** The modes with which node-postgres 8 and libpq both require TLS. */
const TLS_MODES = ['require', 'verify-ca', 'verify-full']

/** Whether PostgreSQL is reached over a network without TLS. */
function isPlainDatabase(url: string): boolean {
  const { hostname, searchParams } = new URL(url)
  // node-postgres takes the last value, and prefers a host in the query to that of the URL
  const last = (name: string) => searchParams.getAll(name).at(-1) ?? ''
  const host = last('host') || decodeURIComponent(hostname)
  const isLocal = isLoopback(host) || host.startsWith('/')
  return !isLocal && !TLS_MODES.includes(last('sslmode'))
}

/** Fastify's names for networks. */
const NAMES = ['loopback', 'linklocal', 'uniquelocal']
/** 10.0.0.0/8 is the widest private network of IPv4, fc00::/7 of IPv6. */
const WIDEST = { ipv4: 8, ipv6: 16, uniqueLocal: 7 }
const MAPPED_PREFIX_BITS = 96
const IPV4_MAPPED = ipaddr.parse('::ffff:0:0')

/**
 * Whether `entry` is an IP address, or a network in CIDR notation that is not too wide to be one of proxies. Fastify's
 * hop counts and `true` are not allowed.
 */
function isProxy(entry: string): boolean {
  if (NAMES.includes(entry)) return true
  const [address = '', bits] = entry.split('/', 2)
  if (isIP(address) === 0) return false
  if (bits === undefined) return true
  if (!ipaddr.isValidCIDR(entry)) return false
  const [network, prefix] = ipaddr.parseCIDR(entry)
  if (network.kind() === 'ipv4') return prefix >= WIDEST.ipv4
  // an IPv4 address counts as the IPv6 address that it is mapped to
  if (IPV4_MAPPED.match(network, prefix)) return prefix >= MAPPED_PREFIX_BITS + WIDEST.ipv4
  return prefix >= (network.range() === 'uniqueLocal' ? WIDEST.uniqueLocal : WIDEST.ipv6)
}

const MAPPED_BITS = 96
const BITS = { ipv4: 32, ipv6: 128 }

type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number]

/**
 * An IP address or a network in CIDR notation as it is kept: an address without its `/32`, and IPv4 addresses that are
 * mapped to IPv6 as IPv4.
 *
 * @throws {Error} a sentence that follows what was given, and says what to write instead.
 */
export function networkOf(text: string): string {
  const [address = '', bits, ...rest] = text.split('/')
  const isWellFormed = rest.length === 0 && (bits === undefined || /^(?:0|[1-9]\d{0,2})$/.test(bits))
  // a zone is an interface of one machine
  if (isIP(address) === 0 || address.includes('%') || !isWellFormed) throw new Error(NEITHER)
  const parsed = ipaddr.parse(address)
  const given = bits === undefined ? BITS[parsed.kind()] : Number(bits)
  if (given > BITS[parsed.kind()]) throw new Error(NEITHER)
  const network = withoutMapping([parsed, given])
  if (network[1] === 0) throw new Error('is every address')
  const first = firstOf(network)
  if (first !== network[0].toString())
    throw new Error(`is an address with the size of its network: use ${first}/${network[1]}`)
  return network[1] === BITS[network[0].kind()] ? first : `${first}/${network[1]}`
}

/** An address without the port that some proxies add to it in X-Forwarded-For, as Azure’s Application Gateway does. */
export function withoutPort(address: string): string {
  const [, ipv4, ipv6] = /^(?:([\d.]+)|\[([\da-f:.]+)\]):\d+$/i.exec(address) ?? []
  return ipv4 ?? ipv6 ?? address
}

const NEITHER = 'is neither an IP address nor a network such as 203.0.113.0/24'

function withoutMapping([address, bits]: Network): Network {
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= MAPPED_BITS
  return isMapped ? [address.toIPv4Address(), bits - MAPPED_BITS] : [address, bits]
}

function firstOf([address, bits]: Network): string {
  const { IPv4, IPv6 } = ipaddr
  const cidr = `${address.toString()}/${bits}`
  const first =
    address.kind() === 'ipv4' ? IPv4.networkAddressFromCIDR(cidr) : IPv6.networkAddressFromCIDR(cidr)
  return first.toString()
}

/** How old data may become, in days, where nobody says otherwise. */
export const retentionDays = {
  RETENTION_LEADS_DAYS: 730,
  RETENTION_ATTEMPTS_DAYS: 30,
  RETENTION_NOTICES_DAYS: 90,
  RETENTION_ENDPOINTS_DAYS: 365,
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((value) => value === 'true')
const wholeNumber = (min: number, max: number, error: string) =>
  z
    .string({ error })
    .regex(/^ *\d{1,9} *$/, { error })
    .transform(Number)
    .pipe(z.number().min(min, { error }).max(max, { error }))
const portNumber = wholeNumber(0, 65535, 'must be a port number from 0 to 65535')
const webUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
const databaseUrl = z
  .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgresql:// URL' })
  .refine(isDecodable, 'has a % that stands for itself: write it as %25')
  .refine((url) => new URL(url).pathname.length > 1, 'must end with the name of the database')
const text = z.string().min(1)

/** As the driver reads it, which decodes each part. */
function isDecodable(url: string): boolean {
  try {
    const { username, password, hostname, pathname } = new URL(url)
    for (const part of [username, password, hostname, pathname]) decodeURIComponent(part)
    return true
  } catch {
    return false
  }
}

const itemsOf = (list: string) => list.split(',').flatMap((item) => item.trim() || [])

/** Addresses and networks, comma-separated. */
const networks = z
  .string()
  .default('')
  .transform((list, context) =>
    itemsOf(list).flatMap((item) => {
      try {
        return networkOf(item)
      } catch (error) {
        context.addIssue(
          `must be addresses and networks, comma-separated: ${item} ${(error as Error).message}`,
        )
        return []
      }
    }),
  )

/** Days, or `null` for `off`. */
const retention = z.string().transform((value, context) => {
  if (value === 'off') return null
  const days = Number(value)
  if (/^\d{1,5}$/.test(value) && days >= 1 && days <= 36_500) return days
  context.addIssue('must be a whole number of days from 1 to 36500, or off')
  return z.NEVER
})

/** Read by every program. */
const everywhere = {
  ENVIRONMENT: z.enum(environments, { error: 'must be sandbox or production' }),
  DATABASE_URL: databaseUrl,
  ALLOW_PLAINTEXT: z
    .string()
    .default('')
    .transform(itemsOf)
    .pipe(
      z.array(
        z.enum(plainTextWays, {
          error: `must be one or more of ${plainTextWays.join(', ')}, comma-separated`,
        }),
      ),
    ),
}

/** Read by API and worker, the long-running processes. */
const processes = {
  DATABASE_POOL: wholeNumber(5, 1000, 'must be a whole number of connections from 5 to 1000').default(20),
  HOST: text.default('127.0.0.1'),
  METRICS_PORT: portNumber.optional(),
  METRICS_HOST: text.optional(),
  STARTS_IN_FLIGHT: wholeNumber(1, 1000, 'must be a whole number from 1 to 1000').default(8),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
  TEMPORAL_WORKER_BUILD_ID: text.optional(),
  GIT_COMMIT: text.optional(),
}

/** One key or more, the newest first. */
const encryptionKeys = z.string().transform((keys, context) => {
  const decoded = keys.split(',').map((key) => Buffer.from(key.trim(), 'base64'))
  if (decoded.some((key) => key.length !== 32)) {
    context.addIssue(
      'must be 32 bytes in base64 (openssl rand -base64 32), older keys after it, separated by commas',
    )
  }
  return decoded
})

/** Read by all that read or write what is encrypted, or register endpoints. */
const endpoints = {
  ENCRYPTION_KEY: encryptionKeys,
  WEBHOOK_ALLOW_PRIVATE_NETWORK: flag.default(false),
}

/** Read by all that erase leads. */
const erasing = {
  ERASURE_LOG: text
    .refine((file) => path.isAbsolute(file), {
      error:
        'must be an absolute path: each program would look for a relative one in the folder that it was started in',
    })
    .optional(),
}

/** Read by all that delete what is old. */
const retained = {
  RETENTION_LEADS_DAYS: retention,
  RETENTION_ATTEMPTS_DAYS: retention,
  RETENTION_NOTICES_DAYS: retention,
  RETENTION_ENDPOINTS_DAYS: retention,
}

/**
 * Every environment variable of the service, under the programs that read it; `docs/settings.md` describes each. No program
 * needs a variable that it does not read, least of all a secret.
 */
export const programs = {
  api: z.object({
    ...everywhere,
    ...processes,
    ...endpoints,
    ...erasing,
    PORT: portNumber.default(3000),
    SINK_URL: webUrl.optional(),
    EGRESS_ADDRESSES: networks,
    TLS_CERT_FILE: text.optional(),
    TLS_KEY_FILE: text.optional(),
    TRUST_PROXY: text
      .refine((list) => list.split(',').every((entry) => isProxy(entry.trim())), {
        error:
          'must be the proxies’ IP addresses or networks, comma-separated, none wider than 10.0.0.0/8 or fc00::/7: their X-Forwarded-For is trusted',
      })
      .optional(),
    RATE_LIMIT: wholeNumber(
      0,
      Number.MAX_SAFE_INTEGER,
      'must be a whole number of requests a minute, 0 for no limit',
    ).default(0),
    MAX_CONNECTIONS: wholeNumber(1, 1_000_000, 'must be a whole number from 1 to 1000000').default(1000),
    DRAIN_SECONDS: wholeNumber(0, 300, 'must be a whole number of seconds from 0 to 300').default(5),
  }),
  worker: z.object({
    ...everywhere,
    ...processes,
    ...endpoints,
    ...erasing,
    RETENTION_LEADS_DAYS: retained.RETENTION_LEADS_DAYS.default(retentionDays.RETENTION_LEADS_DAYS),
    RETENTION_ATTEMPTS_DAYS: retained.RETENTION_ATTEMPTS_DAYS.default(retentionDays.RETENTION_ATTEMPTS_DAYS),
    RETENTION_NOTICES_DAYS: retained.RETENTION_NOTICES_DAYS.default(retentionDays.RETENTION_NOTICES_DAYS),
    RETENTION_ENDPOINTS_DAYS: retained.RETENTION_ENDPOINTS_DAYS.default(
      retentionDays.RETENTION_ENDPOINTS_DAYS,
    ),
    SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// URL' }).optional(),
    SMTP_CATCHER: flag.default(false),
    MAIL_REPLY_TO: z.email({ error: 'must be an email address' }).optional(),
    MAIL_FOOTER: text
      .transform((footer) => footer.replaceAll(String.raw`\n`, '\n'))
      .refine((footer) => !/[^\P{Cc}\n]/u.test(footer) && footer.length <= 2000, {
        error: 'must be text of at most 2000 characters, with \\n for a new line',
      })
      .optional(),
    MAIL_FROM: text.default('Partner Referral Service <no-reply@localhost>'),
    MAIL_ALLOW_DOMAINS: z
      .string()
      .default('')
      .transform((list) => itemsOf(list.toLowerCase())),
    STAFF_EMAIL: z.email({ error: 'must be an email address' }).optional(),
    SCORE_PROVIDER_URL: webUrl.optional(),
    SCORE_PROVIDER_TOKEN: text.optional(),
    SCORE_PROVIDER_RATE: wholeNumber(
      0,
      100_000,
      'must be a whole number of requests a second, 0 for no limit',
    ).default(0),
    STARTUP_SECONDS: wholeNumber(0, 3600, 'must be a whole number of seconds from 0 to 3600').default(10),
    WORKER_WORKFLOW_TASKS: wholeNumber(2, 10_000, 'must be a whole number from 2 to 10000').default(20),
    WORKER_ACTIVITIES: wholeNumber(1, 10_000, 'must be a whole number from 1 to 10000').default(100),
    WORKER_CACHED_WORKFLOWS: wholeNumber(0, 100_000, 'must be a whole number from 0 to 100000').default(500),
    TEMPORAL_DEPLOYMENT_NAME: text.optional(),
    TEMPORAL_METRICS_PORT: wholeNumber(1, 65535, 'must be a port number from 1 to 65535').optional(),
  }),
  staff: z.object({
    ...everywhere,
    ...endpoints,
    // most commands decrypt nothing: who only looks after keys and partners needs none
    ENCRYPTION_KEY: encryptionKeys.optional(),
    STAFF_NAME: z.string().regex(STAFF_NAME, { error: 'must be a name of 1 to 100 characters' }).optional(),
    ...erasing,
    ...z.object(retained).partial().shape,
    TEMPORAL_UI_URL: webUrl.optional(),
  }),
  migrate: z.object({
    ...everywhere,
    MIGRATION_DATABASE_URL: databaseUrl.optional(),
  }),
  'setup-temporal': z.object(everywhere),
}

export type Program = keyof typeof programs
export type Config<Name extends Program> = z.output<(typeof programs)[Name]>

/** Which code a process runs, for its metrics and its log: the same for every process of a deployment. */
export interface Build {
  /** Of package.json. */
  version: string
  /** What Worker Versioning calls it, where it is set; else the commit; else the version. */
  build: string
  /** Empty where nobody says it. */
  commit: string
}

const LENGTH = 12
const packageFile = path.join(import.meta.dirname, '../package.json')

type BuildSettings = Pick<Config<'api'>, 'TEMPORAL_WORKER_BUILD_ID' | 'GIT_COMMIT'>

export function readBuild({ TEMPORAL_WORKER_BUILD_ID: id, GIT_COMMIT: commit = '' }: BuildSettings): Build {
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }
  return { version, build: id ?? (commit.slice(0, LENGTH) || version), commit }
}

/** The settings that a program has read. */
type Settings = Partial<Config<'api'> & Config<'worker'> & Config<'staff'> & Config<'migrate'>>

export interface Fault {
  /** The variable to change. */
  name: string
  /** What is wrong and what to do, to follow the name. */
  message: string
}

/** What is missing or unsafe in settings that are each well-formed. */
function faultsIn(program: Program, settings: Settings): Fault[] {
  return [
    ...addressFaults(program, settings),
    ...metricsFaults(settings),
    ...pairFaults(program, settings),
    ...(settings.ENVIRONMENT === 'production' ? productionFaults(program, settings) : []),
  ]
}

function addressFaults(program: Program, settings: Settings): Fault[] {
  const { HOST: host = '127.0.0.1', ENVIRONMENT: environment } = settings
  const isLocal = isLoopback(host)
  if (!isLocal && settings.WEBHOOK_ALLOW_PRIVATE_NETWORK) {
    const message = 'is for one machine only: unset it, or set HOST to 127.0.0.1'
    return [{ name: 'WEBHOOK_ALLOW_PRIVATE_NETWORK', message }]
  }
  // the other programs answer only probes there
  if (program !== 'api' || isBehindTls(settings)) return []
  if (!isLocal) {
    const message = `${host} is not loopback: set TLS_CERT_FILE and TLS_KEY_FILE, or name the TLS proxy in TRUST_PROXY`
    return [{ name: 'HOST', message }]
  }
  if (environment !== 'production') return []
  const message =
    'is required in production: name your TLS proxy, or set TLS_CERT_FILE and TLS_KEY_FILE, because keys may not cross a network in plain text'
  return [{ name: 'TRUST_PROXY', message }]
}

/** Whether the API can tell that a request came over HTTPS. One file without the other is a fault of its own. */
function isBehindTls({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key, TRUST_PROXY: proxy }: Settings): boolean {
  return [cert, key, proxy].some((setting) => setting !== undefined)
}

/** Metrics and probes need no key, so nobody is to reach them by accident. */
function metricsFaults({ HOST: host = '127.0.0.1', METRICS_HOST: chosen, ...settings }: Settings): Fault[] {
  const name = (['METRICS_PORT', 'TEMPORAL_METRICS_PORT'] as const).find((one) => settings[one] !== undefined)
  if (name === undefined || chosen !== undefined || isLoopback(host)) return []
  const message = `would be open to all who reach ${host}: set METRICS_HOST to the address for your monitoring, such as 127.0.0.1, or to ${host} if only it can reach that`
  return [{ name, message }]
}

const PAIRS = [
  ['api', 'TLS_CERT_FILE', 'TLS_KEY_FILE', 'set both or neither'],
  // the API only shows which build it is
  [
    'worker',
    'TEMPORAL_DEPLOYMENT_NAME',
    'TEMPORAL_WORKER_BUILD_ID',
    'set both for Worker Versioning, or neither',
  ],
] as const

function pairFaults(program: Program, settings: Settings): Fault[] {
  return PAIRS.filter(
    ([reader, one, other]) =>
      reader === program && (settings[one] === undefined) !== (settings[other] === undefined),
  ).map(([, name, other, remedy]) => ({ name, message: `and ${other} go together: ${remedy}` }))
}

/** Top-level domains that no reply reaches. */
const UNREACHABLE = ['localhost', 'local', 'localdomain', 'internal', 'invalid']

/** Whether a sender's address is at a domain that others can reply to. */
function hasDomain(sender: string): boolean {
  const [address = ''] = sender.slice(sender.lastIndexOf('<') + 1).split('>')
  const [domain = '', local = ''] = address.trim().toLowerCase().split('@').toReversed()
  const [top = '', ...others] = domain.split('.').toReversed()
  const isTop = /^[a-z][a-z\d-]*[a-z\d]$/.test(top) && !UNREACHABLE.includes(top)
  return local !== '' && isTop && others.length > 0 && others.every((label) => label !== '')
}

/** They erase leads. */
const ERASING: Program[] = ['api', 'worker', 'staff']

/** Production has real people’s data: nothing is invented, and only ALLOW_PLAINTEXT permits plain text. */
function productionFaults(program: Program, settings: Settings): Fault[] {
  const faults: Fault[] = []
  const refuse = (name: string, message: string) => faults.push({ name, message })
  const { SMTP_URL: smtp, SCORE_PROVIDER_URL: scores, ALLOW_PLAINTEXT: allowed = [] } = settings
  if (program === 'worker' && smtp === undefined)
    refuse('SMTP_URL', 'is required in production: onboarding emails need a mail server')
  if (program === 'worker' && smtp !== undefined && settings.MAIL_REPLY_TO === undefined)
    refuse(
      'MAIL_REPLY_TO',
      'is required in production: name the address that reads what borrowers answer to their onboarding email',
    )
  if (program === 'worker' && smtp !== undefined && settings.MAIL_FOOTER === undefined)
    refuse(
      'MAIL_FOOTER',
      'is required in production: onboarding emails end with your postal address, and with how to get no more of them',
    )
  if (program === 'worker' && settings.STAFF_EMAIL === undefined)
    refuse('STAFF_EMAIL', 'is required in production: staff are told of changed endpoints and failures')
  if (ERASING.includes(program) && settings.ERASURE_LOG === undefined)
    refuse(
      'ERASURE_LOG',
      'is required in production: name a file outside the database’s disk, so that a restored backup can be erased again',
    )
  if (program === 'worker' && scores === undefined)
    refuse('SCORE_PROVIDER_URL', 'is required in production: scores are never invented')
  if (settings.MAIL_FROM !== undefined && !hasDomain(settings.MAIL_FROM))
    refuse(
      'MAIL_FROM',
      'must have an address at a domain of yours in production, such as Referrals <no-reply@example.com>: mail servers refuse or distrust others',
    )
  if (settings.SMTP_CATCHER)
    refuse('SMTP_CATCHER', 'is for a sandbox: unset it, because production sends emails to real people')
  if (settings.WEBHOOK_ALLOW_PRIVATE_NETWORK)
    refuse(
      'WEBHOOK_ALLOW_PRIVATE_NETWORK',
      'is for a sandbox: unset it, because production sends webhooks only to public addresses',
    )
  if (smtp !== undefined && isPlainSmtp(smtp) && !allowed.includes('smtp'))
    refuse(
      'SMTP_URL',
      'may send emails in plain text: use smtps://, require STARTTLS by adding ?requireTLS=true, or set ALLOW_PLAINTEXT=smtp',
    )
  if (scores !== undefined && new URL(scores).protocol === 'http:' && !allowed.includes('score_provider'))
    refuse(
      'SCORE_PROVIDER_URL',
      'would send its token in plain text: use https://, or set ALLOW_PLAINTEXT=score_provider',
    )
  if (allowed.includes('database')) return faults
  for (const name of ['DATABASE_URL', 'MIGRATION_DATABASE_URL'] as const) {
    if (settings[name] !== undefined && isPlainDatabase(settings[name]))
      refuse(
        name,
        'would send borrowers’ data in plain text: add ?sslmode=verify-full, or set ALLOW_PLAINTEXT=database',
      )
  }
  return faults
}

const UNVERIFIED = 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'
const flags = ['TEMPORAL_TLS', UNVERIFIED]

/** The variables that @temporalio/envconfig reads, beside TEMPORAL_GRPC_META_<NAME>. */
export const temporalNames = [
  ...flags,
  'TEMPORAL_ADDRESS',
  'TEMPORAL_NAMESPACE',
  'TEMPORAL_API_KEY',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_CERT_DATA',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_DATA',
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  'TEMPORAL_TLS_SERVER_CA_CERT_DATA',
  'TEMPORAL_TLS_SERVER_NAME',
  'TEMPORAL_CONFIG_FILE',
  'TEMPORAL_PROFILE',
  'TEMPORAL_CODEC_ENDPOINT',
  'TEMPORAL_CODEC_AUTH',
]

/** Where Temporal is, and how to connect to it. */
export type TemporalSettings = ReturnType<typeof loadTemporal>

const LONGEST_RECONNECT_MS = 5000

/** @throws {Error} if the configuration file or a certificate cannot be read; {MissingAddress}. */
export function loadTemporal(environment: Record<string, string>) {
  const { TEMPORAL_CONFIG_FILE: file } = environment
  // envconfig takes a missing file for an empty one
  if (file !== undefined) accessSync(file)
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({
    overrideEnvVars: environment,
    disableFile: file === undefined,
  })
  const { address } = connectionOptions
  // the client's default is whatever listens on this machine
  if (address === undefined) throw new MissingAddress()
  const [, host, port = '1'] = ADDRESS.exec(address) ?? []
  if (host === undefined || Number(port) < 1 || Number(port) > 65535) throw new MalformedAddress(address)
  // the client would take a proxy of the environment for this machine, too
  const direct = isLoopback(host) && { 'grpc.enable_http_proxy': 0 }
  // after an outage of a minute and a half, the client would wait for a minute more
  const channelArgs = { 'grpc.max_reconnect_backoff_ms': LONGEST_RECONNECT_MS, ...direct }
  return { connectionOptions: { ...connectionOptions, channelArgs, address }, namespace }
}

/** A name or an address, with a port or without one. */
const ADDRESS = /^([^\s:/@[\]]+|\[[\da-f:.]+\])(?::(\d{1,5}))?$/i

/** Ours, in PEM, where Temporal wants one. */
export function clientCertificate({ connectionOptions: { tls } }: TemporalSettings): Buffer | undefined {
  const pair = typeof tls === 'object' ? tls?.clientCertPair : undefined
  return pair && Buffer.from(pair.crt)
}

class MissingAddress extends Error {}

class MalformedAddress extends Error {}

/** The flags that envconfig would take for `false` although they say something else. */
function flagFaults(environment: Record<string, string>): Fault[] {
  const isFaulty = (name: string) => !/^(true|false|1|0)$/.test(environment[name] ?? 'false')
  return flags.filter(isFaulty).map((name) => ({ name, message: 'must be true or false' }))
}

/** What is unsafe in the connection of a production. */
function connectionFaults(
  { connectionOptions: { address, tls } }: TemporalSettings,
  { allowed, environment }: { allowed: readonly PlainTextWay[]; environment: Record<string, string> },
): Fault[] {
  const { [UNVERIFIED]: unverified = 'false' } = environment
  if (unverified === 'true' || unverified === '1')
    return [
      { name: UNVERIFIED, message: 'is for tests: unset it, because any server could be taken for Temporal' },
    ]
  if (tls || isLoopback(address.replace(/:\d+$/, '')) || allowed.includes('temporal')) return []
  const message = `${address} would be reached in plain text: set TEMPORAL_TLS=true, or ALLOW_PLAINTEXT=temporal`
  return [{ name: 'TEMPORAL_ADDRESS', message }]
}

/** A wrong or missing setting; `message` is one line that says what to do. */
export class ConfigError extends Error {}

/** Defaults of production only. */
const inProduction = { RATE_LIMIT: '600' }

/**
 * The configuration of `program`, from `environment` over `defaults`. An empty variable counts as unset, because compose
 * files and CI systems pass those. Variables that the program does not read are ignored.
 *
 * @throws {ConfigError} one line that names every faulty variable and what it needs; no secret is repeated.
 */
export function readConfig<Name extends Program>(
  program: Name,
  defaults: Record<string, string> = {},
  environment: NodeJS.ProcessEnv = process.env,
): Config<Name> {
  const given: Record<string, string | undefined> = { ...defaults, ...withoutEmpty(environment) }
  const values = { ...(given.ENVIRONMENT === 'production' && inProduction), ...given }
  const result = programs[program].safeParse(values)
  const faults = result.success
    ? faultsIn(program, result.data)
    : result.error.issues.map(({ path: [first], code, message }) => {
        const name = String(first)
        const isMissing = code !== 'custom' && given[name] === undefined
        return { name, message: isMissing ? 'is not set' : message }
      })
  if (result.success && faults.length === 0) return result.data as Config<Name>
  throw refusalOf(faults)
}

/**
 * Where Temporal is: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and the other names of @temporalio/envconfig.
 *
 * @param config says whether the connection may be plain; without it, nothing is refused for that.
 * @throws {ConfigError} one line that says what to change.
 */
export function readTemporal(
  config: Pick<Config<'setup-temporal'>, 'ENVIRONMENT' | 'ALLOW_PLAINTEXT'> | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): TemporalSettings {
  const given = withoutEmpty(environment)
  const malformed = flagFaults(given)
  if (malformed.length > 0) throw refusalOf(malformed)
  const settings = orRefuse(() => loadTemporal(given))
  const unsafe =
    config?.ENVIRONMENT === 'production'
      ? connectionFaults(settings, { allowed: config.ALLOW_PLAINTEXT, environment: given })
      : []
  if (unsafe.length > 0) throw refusalOf(unsafe)
  return settings
}

function withoutEmpty(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value?.trim() ? [[name, value]] : [])),
  )
}

/** All faults in one line. */
function refusalOf(faults: Fault[]): ConfigError {
  const lines = faults.map(({ name, message }) => `${name} ${message}`)
  return new ConfigError(`Configuration: ${[...new Set(lines)].join('; ')}. See docs/settings.md.`)
}

function orRefuse<Value>(load: () => Value): Value {
  try {
    return load()
  } catch (error) {
    if (error instanceof MissingAddress)
      throw refusalOf([{ name: 'TEMPORAL_ADDRESS', message: 'is not set' }])
    if (error instanceof MalformedAddress)
      throw refusalOf([
        {
          name: 'TEMPORAL_ADDRESS',
          message: `${error.message} is not a host with its port, such as temporal.internal:7233`,
        },
      ])
    throw new ConfigError(`Configuration: Temporal’s settings cannot be read: ${(error as Error).message}`)
  }
}

/** The environment with `overrides`, for child processes and for libraries that read variables of their own. */
export function processEnvironment(overrides: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { ...process.env, ...overrides }
}
