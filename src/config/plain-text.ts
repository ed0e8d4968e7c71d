import { isLoopback } from './loopback.ts'

/** The ways on which data may leave in plain text, by the names that ALLOW_PLAINTEXT takes. */
export const plainTextWays = ['smtp', 'score_provider', 'database'] as const

/**
 * Whether mails may go out without TLS: nodemailer sends on in plain text where the server offers no STARTTLS,
 * unless `requireTLS` is true, which wins over all its other options.
 */
export function isPlainSmtp(url: string): boolean {
  const { protocol, searchParams } = new URL(url)
  return protocol === 'smtp:' && searchParams.get('requireTLS') !== 'true'
}

export function isPlainHttp(url: string): boolean {
  return new URL(url).protocol === 'http:'
}

/** What means TLS, or no connection, to node-postgres 8 and to libpq alike. */
const TLS_MODES = ['require', 'verify-ca', 'verify-full']

/** Whether PostgreSQL is reached without TLS, over a network. */
export function isPlainDatabase(url: string): boolean {
  const { hostname, searchParams } = new URL(url)
  // node-postgres takes the last one, and a host in the query before that of the URL
  const last = (name: string) => searchParams.getAll(name).at(-1) ?? ''
  const host = last('host') || decodeURIComponent(hostname)
  const isLocal = isLoopback(host) || host.startsWith('/')
  return !isLocal && !TLS_MODES.includes(last('sslmode'))
}
