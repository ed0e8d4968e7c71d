import { z } from 'zod'

/** A wrong or missing setting; `message` is one line that says what to do. */
export class ConfigError extends Error {}

const flag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((value) => value === 'true')
const wholeNumber = (min: number, max: number, error: string) =>
  z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error })
const port = wholeNumber(0, 65535, 'must be a port number from 0 to 65535')
const webUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
const text = z.string().min(1)

/** The environment: every variable of the service, stated once. `.env.example` documents each. */
const variables = z
  .object({
    ENVIRONMENT: z.enum(['sandbox', 'production'], { error: 'must be sandbox or production' }),
    HOST: text.default('127.0.0.1'),
    PORT: port.default(3000),
    METRICS_PORT: port.optional(),
    DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgresql:// URL' }),
    TEMPORAL_UI_URL: webUrl.optional(),
    SMTP_URL: z.url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// URL' }).optional(),
    MAIL_FROM: text.default('Partner Referral Service <no-reply@localhost>'),
    MAIL_ALLOW_DOMAINS: z
      .string()
      .default('')
      .transform((list) => list.split(',').flatMap((domain) => domain.trim().toLowerCase() || [])),
    STAFF_EMAIL: z.email({ error: 'must be an e-mail address' }).optional(),
    SCORE_PROVIDER_URL: webUrl.optional(),
    SCORE_PROVIDER_TOKEN: text.optional(),
    TLS_CERT_FILE: text.optional(),
    TLS_KEY_FILE: text.optional(),
    TRUST_PROXY: text.optional(),
    ENCRYPTION_KEY: z.string().transform((keys, context) => {
      const decoded = keys.split(',').map((key) => Buffer.from(key.trim(), 'base64'))
      if (decoded.some((key) => key.length !== 32)) {
        context.addIssue(
          'must be 32 bytes in base64 (openssl rand -base64 32), older keys after it, separated by commas',
        )
      }
      return decoded
    }),
    LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    RATE_LIMIT: wholeNumber(
      0,
      Number.MAX_SAFE_INTEGER,
      'must be a whole number of requests a minute, 0 for no limit',
    ).default(0),
    WEBHOOK_ALLOW_PRIVATE_NETWORK: flag.default(false),
    WORKER_WORKFLOW_TASKS: wholeNumber(2, 10_000, 'must be a whole number from 2 to 10000').default(20),
    WORKER_ACTIVITIES: wholeNumber(1, 10_000, 'must be a whole number from 1 to 10000').default(100),
    WORKER_CACHED_WORKFLOWS: wholeNumber(0, 100_000, 'must be a whole number from 0 to 100000').default(500),
    TEMPORAL_DEPLOYMENT_NAME: text.optional(),
    TEMPORAL_WORKER_BUILD_ID: text.optional(),
  })
  .superRefine((env, context) => {
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    const local = isLoopback(env.HOST)
    const tls = env.TLS_CERT_FILE !== undefined && env.TLS_KEY_FILE !== undefined
    if (!tls && (env.TLS_CERT_FILE ?? env.TLS_KEY_FILE) !== undefined) {
      refuse('TLS_CERT_FILE', 'and TLS_KEY_FILE go together: set both or neither')
    }
    if (!local && !tls && env.TRUST_PROXY === undefined) {
      refuse(
        'HOST',
        `${env.HOST} is not loopback: set TLS_CERT_FILE and TLS_KEY_FILE, or name the TLS proxy in TRUST_PROXY`,
      )
    }
    if (!local && env.WEBHOOK_ALLOW_PRIVATE_NETWORK) {
      refuse('WEBHOOK_ALLOW_PRIVATE_NETWORK', 'is for one machine only: unset it, or set HOST to 127.0.0.1')
    }
    if ((env.TEMPORAL_DEPLOYMENT_NAME === undefined) !== (env.TEMPORAL_WORKER_BUILD_ID === undefined)) {
      refuse(
        'TEMPORAL_DEPLOYMENT_NAME',
        'and TEMPORAL_WORKER_BUILD_ID go together: set both for Worker Versioning, or neither',
      )
    }
    if (env.ENVIRONMENT === 'production') {
      if (env.SMTP_URL === undefined)
        refuse('SMTP_URL', 'is required in production: onboarding mails need a mail server')
      if (env.SCORE_PROVIDER_URL === undefined)
        refuse('SCORE_PROVIDER_URL', 'is required in production: scores are never invented')
    }
  })

export type Environment = 'sandbox' | 'production'
export type Config = z.output<typeof variables>

export const variableNames = Object.keys(variables.shape)

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/**
 * The configuration, from `environment` over `defaults`. An empty variable counts as unset, as compose
 * files and CI systems pass them.
 *
 * @throws {ConfigError} one line that names every faulty variable and what it needs; no secret is repeated.
 */
export function readConfig(
  defaults: Record<string, string> = {},
  environment: NodeJS.ProcessEnv = process.env,
): Config {
  const set = Object.entries(environment).filter(([, value]) => value !== '')
  const values: Record<string, unknown> = { ...defaults, ...Object.fromEntries(set) }
  const result = variables.safeParse(values)
  if (result.success) return result.data
  const faults = result.error.issues.map(({ path, code, message }) => {
    const name = String(path[0])
    const missing = code !== 'custom' && values[name] === undefined
    return `${name} ${missing ? 'is not set' : message}`
  })
  throw new ConfigError(`Configuration: ${faults.join('; ')}. See .env.example.`)
}

/** The environment as it stands, with `overrides`: for child processes, and for libraries that read their own names. */
export function processEnvironment(overrides: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { ...process.env, ...overrides }
}
