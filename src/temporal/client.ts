import { Client, Connection } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'

/** Where Temporal is: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and the other names of @temporalio/envconfig. */
export function temporalSettings(environment: Record<string, string | undefined>) {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({
    overrideEnvVars: environment as Record<string, string>,
    disableFile: environment.TEMPORAL_CONFIG_FILE === undefined,
  })
  return { connectionOptions: { address: '127.0.0.1:7233', ...connectionOptions }, namespace }
}

export type TemporalSettings = ReturnType<typeof temporalSettings>

/** A client that connects at the first call, and again whenever Temporal comes back. */
export function createTemporalClient({ connectionOptions, namespace }: TemporalSettings): Client {
  return new Client({ connection: Connection.lazy(connectionOptions), namespace })
}
