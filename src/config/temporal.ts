import { accessSync } from 'node:fs'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { isLoopback, type PlainTextWay } from './plain-text.ts'
import type { Fault } from './rules.ts'

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

export class MissingAddress extends Error {}

export class MalformedAddress extends Error {}

/** The flags that envconfig would take for `false` although they say something else. */
export function flagFaults(environment: Record<string, string>): Fault[] {
  const isFaulty = (name: string) => !/^(true|false|1|0)$/.test(environment[name] ?? 'false')
  return flags.filter(isFaulty).map((name) => ({ name, message: 'must be true or false' }))
}

/** What is unsafe in the connection of a production. */
export function connectionFaults(
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
