import { Client, Connection } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import {
  createNamespaceGuard,
  guardedCalls,
  type GuardOptions,
  type NamespaceGuard,
} from './namespace-guard.ts'

/** Where Temporal is: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and the other names of @temporalio/envconfig. */
export function temporalSettings(environment: Record<string, string | undefined>) {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({
    overrideEnvVars: environment as Record<string, string>,
    disableFile: environment.TEMPORAL_CONFIG_FILE === undefined,
  })
  const { address = '127.0.0.1:7233' } = connectionOptions
  return { connectionOptions: { ...connectionOptions, address }, namespace }
}

export type TemporalSettings = ReturnType<typeof temporalSettings>

/**
 * A client that connects at the first call, and again whenever Temporal comes back. It touches no workflow of
 * another deployment.
 */
export function createTemporalClient(
  { connectionOptions, namespace }: TemporalSettings,
  options: GuardOptions,
): { client: Client; guard: NamespaceGuard } {
  const connection = Connection.lazy(connectionOptions)
  const guard = createNamespaceGuard(connection, namespace, options)
  const interceptors = { workflow: [guardedCalls(guard)] }
  return { client: new Client({ connection, namespace, interceptors }), guard }
}
