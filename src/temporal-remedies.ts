import type { TemporalSettings } from './config.ts'
import { tlsFault } from './core/temporal/tls-fault.ts'
import { reasonOf } from './fail.ts'

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
