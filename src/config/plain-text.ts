/** The connections that may use plain text, by the names that ALLOW_PLAINTEXT takes. */
export const plainTextWays = ['smtp', 'score_provider', 'database', 'temporal'] as const
export type PlainTextWay = (typeof plainTextWays)[number]

/** Whether a host, in a setting or a URL, is this machine. Names other than localhost are not resolved. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || /^\[?::1\]?$/.test(host) || /^127(\.\d{1,3}){3}$/.test(host)
}

/**
 * Whether emails may be sent without TLS: if the server does not offer STARTTLS, nodemailer falls back to plain text,
 * unless `requireTLS` is true, which overrides its other options.
 */
export function isPlainSmtp(url: string): boolean {
  const { protocol, searchParams } = new URL(url)
  return protocol === 'smtp:' && searchParams.get('requireTLS') !== 'true'
}

/** The modes with which node-postgres 8 and libpq both require TLS. */
const TLS_MODES = ['require', 'verify-ca', 'verify-full']

/** Whether PostgreSQL is reached over a network without TLS. */
export function isPlainDatabase(url: string): boolean {
  const { hostname, searchParams } = new URL(url)
  // node-postgres takes the last value, and prefers a host in the query to that of the URL
  const last = (name: string) => searchParams.getAll(name).at(-1) ?? ''
  const host = last('host') || decodeURIComponent(hostname)
  const isLocal = isLoopback(host) || host.startsWith('/')
  return !isLocal && !TLS_MODES.includes(last('sslmode'))
}
