import { isIP } from 'node:net'
import { connect, type ConnectionOptions } from 'node:tls'
import type { ConnectionOptions as TemporalOptions } from '@temporalio/client'
import type { TemporalSettings } from '../config.ts'
import { reasonOf } from '../fail.ts'

/** The port of an address without one. */
const PORT = 7233
const LIMIT_MS = 2000

/**
 * What does not fit between the settings of TLS and the server at TEMPORAL_ADDRESS, in one line that says what to do;
 * `undefined` if it fits, or if nothing listens there. Asked once a connection has failed: the SDK says only that a deadline
 * has passed, or which byte it did not expect.
 */
export async function tlsFault({
  address,
  tls,
}: Pick<TemporalOptions, 'address' | 'tls'>): Promise<string | undefined> {
  const { hostname, port } = new URL(`tcp://${address}`)
  const host = hostname.replaceAll(/[[\]]/g, '')
  const given = typeof tls === 'object' ? tls : undefined
  const greeting = await greet({
    host,
    port: Number(port || PORT),
    ...nameOf(host, given?.serverNameOverride),
    ...(given?.serverRootCACertificate && { ca: Buffer.from(given.serverRootCACertificate) }),
  })
  if (!tls)
    return greeting.speaksTls
      ? `Temporal at ${address} takes TLS only: set TEMPORAL_TLS=true, or correct TEMPORAL_ADDRESS`
      : undefined
  if (greeting.speaksTls === false)
    return `Temporal at ${address} speaks plain text, and TEMPORAL_TLS, a certificate or TEMPORAL_API_KEY turns TLS on: set TEMPORAL_TLS=false, or correct TEMPORAL_ADDRESS`
  return (
    greeting.refusal &&
    `The certificate of Temporal at ${address} is not trusted (${greeting.refusal}): name its authority in TEMPORAL_TLS_SERVER_CA_CERT_PATH, and its name in TEMPORAL_TLS_SERVER_NAME if it has another`
  )
}

/** An IP address is no name that a client may ask for. */
function nameOf(host: string, override: string | undefined): Pick<ConnectionOptions, 'servername'> {
  if (override !== undefined) return { servername: override }
  return isIP(host) === 0 ? { servername: host } : {}
}

interface Greeting {
  /** `undefined` if nobody said anything. */
  speaksTls?: boolean
  /** Why its certificate would be refused. */
  refusal?: string
}

/** Begins TLS as a client would, with whoever answers. */
function greet(options: ConnectionOptions): Promise<Greeting> {
  return new Promise((resolve) => {
    const socket = connect({
      ...options,
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
      timeout: LIMIT_MS,
    })
    const end = (greeting: Greeting) => {
      resolve(greeting)
      socket.destroy()
    }
    socket.on('secureConnect', () => {
      const { authorized, authorizationError: refusal } = socket
      end({ speaksTls: true, ...(!authorized && { refusal: String(refusal) }) })
    })
    socket.on('timeout', () => end({}))
    // an alert is TLS, and any other answer that OpenSSL cannot read is none
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) =>
      end(code.startsWith('ERR_SSL_') ? { speaksTls: code.includes('ALERT') } : {}),
    )
  })
}

// What to do about a Temporal that cannot be used, in one line: the same in each program that meets it.

export async function unreachable({ connectionOptions }: TemporalSettings, error: unknown): Promise<string> {
  const { address } = connectionOptions
  return (
    (await tlsFault(connectionOptions)) ??
    `Temporal does not answer at ${address}: start it, or set TEMPORAL_ADDRESS (${reasonOf(error)})`
  )
}

export const setUpNamespace = 'Run npm run setup-temporal, or set TEMPORAL_NAMESPACE'

export function unusableNamespace(namespace: string, error: unknown): string {
  return `Temporal’s namespace ${namespace} cannot be used: ${reasonOf(error)}. ${setUpNamespace}`
}
