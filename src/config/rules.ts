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
    ...pairFaults(settings),
    ...(settings.ENVIRONMENT === 'production' ? productionFaults(program, settings) : []),
  ]
}

function addressFaults(program: Program, settings: Settings): Fault[] {
  const { HOST: host = '127.0.0.1', TLS_CERT_FILE: cert, TLS_KEY_FILE: key, TRUST_PROXY: proxy } = settings
  if (isLoopback(host)) return []
  if (settings.WEBHOOK_ALLOW_PRIVATE_NETWORK) {
    const message = 'is for one machine only: unset it, or set HOST to 127.0.0.1'
    return [{ name: 'WEBHOOK_ALLOW_PRIVATE_NETWORK', message }]
  }
  // the other programs answer only probes there
  if (program !== 'api' || proxy !== undefined || (cert !== undefined && key !== undefined)) return []
  const message = `${host} is not loopback: set TLS_CERT_FILE and TLS_KEY_FILE, or name the TLS proxy in TRUST_PROXY`
  return [{ name: 'HOST', message }]
}

const PAIRS = [
  ['TLS_CERT_FILE', 'TLS_KEY_FILE', 'set both or neither'],
  ['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID', 'set both for Worker Versioning, or neither'],
] as const

function pairFaults(settings: Settings): Fault[] {
  return PAIRS.filter(
    ([one, other]) => (settings[one] === undefined) !== (settings[other] === undefined),
  ).map(([name, other, remedy]) => ({ name, message: `and ${other} go together: ${remedy}` }))
}

/** They erase leads, or erase them again after a restore. */
const ERASING: Program[] = ['worker', 'staff', 'migrate']

/** Production has real people’s data: nothing is invented, and only ALLOW_PLAINTEXT permits plain text. */
function productionFaults(program: Program, settings: Settings): Fault[] {
  const faults: Fault[] = []
  const refuse = (name: string, message: string) => faults.push({ name, message })
  const { SMTP_URL: smtp, SCORE_PROVIDER_URL: scores, ALLOW_PLAINTEXT: allowed = [] } = settings
  if (program === 'worker' && smtp === undefined)
    refuse('SMTP_URL', 'is required in production: onboarding emails need a mail server')
  if (program === 'worker' && settings.STAFF_EMAIL === undefined)
    refuse(
      'STAFF_EMAIL',
      'is required in production: staff are told of erasures and changed endpoints, which they can prevent',
    )
  if (ERASING.includes(program) && settings.ERASURE_JOURNAL === undefined)
    refuse(
      'ERASURE_JOURNAL',
      'is required in production: name a folder outside the database’s disk, so that a restored backup is erased again',
    )
  if (program === 'worker' && scores === undefined)
    refuse('SCORE_PROVIDER_URL', 'is required in production: scores are never invented')
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
