import path from 'node:path'
import { z } from 'zod'
import { environments } from '../core/values/environment.ts'
import { networkOf } from '../core/values/networks.ts'
import { retentionDays } from '../core/values/retention-days.ts'
import { STAFF_NAME } from '../core/audit/decisions/staff-name.ts'
import { plainTextWays } from './plain-text.ts'
import { isProxy } from './trusted-proxies.ts'

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
const port = wholeNumber(0, 65535, 'must be a port number from 0 to 65535')
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
  METRICS_PORT: port.optional(),
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
    PORT: port.default(3000),
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
    WORKER_CALL_STACKS: flag.default(false),
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
    CERTIFICATE_FILES: z.string().default('').transform(itemsOf),
  }),
  migrate: z.object({
    ...everywhere,
    MIGRATION_DATABASE_URL: databaseUrl.optional(),
  }),
  'setup-temporal': z.object(everywhere),
}

export type Program = keyof typeof programs
export type Config<Name extends Program> = z.output<(typeof programs)[Name]>
