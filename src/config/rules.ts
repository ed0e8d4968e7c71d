import type { Config, Program } from './schema.ts'
import { isLoopback, isPlainDatabase, isPlainSmtp } from './plain-text.ts'

/** The settings that a program has read. */
type Settings = Partial<Config<'api'> & Config<'worker'> & Config<'staff'> & Config<'migrate'>>

export interface Fault {
  /** The variable to change. */
  name: string
  /** What is wrong and what to do, to follow the name. */
  message: string
}

/** What is missing or unsafe in settings that are each well-formed. */
export function faultsIn(program: Program, settings: Settings): Fault[] {
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
