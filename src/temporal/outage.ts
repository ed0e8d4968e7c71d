import type { TemporalSettings } from '../config.ts'
import { reasonOf } from '../fail.ts'

// What to do about a Temporal that cannot be used, in one line: the same in each program that meets it.

export function unreachable(
  { connectionOptions: { address, tls } }: TemporalSettings,
  error: unknown,
): string {
  const spoken = tls
    ? 'TLS, by TEMPORAL_TLS or a certificate or key for it'
    : 'plain text, without TEMPORAL_TLS'
  return `Temporal does not answer at ${address}: start it, or correct TEMPORAL_ADDRESS; it was asked in ${spoken} (${reasonOf(error)})`
}

export const setUpNamespace = 'Run npm run setup-temporal, or set TEMPORAL_NAMESPACE'

export function unusableNamespace(namespace: string, error: unknown): string {
  return `Temporal’s namespace ${namespace} cannot be used: ${reasonOf(error)}. ${setUpNamespace}`
}
