import path from 'node:path'
import { processEnvironment } from '../config.ts'
import { freePort } from './ports.ts'
import { provideTemporal, type ServerOptions, type TemporalAccess } from './servers.ts'
import { startService } from './service.ts'

/**
 * Temporal, and on it the same two processes as in a deployment, all at once: bundling the workflows takes
 * longer than the servers need, and whoever comes too early tries until they answer.
 */
export async function startOnTemporal(
  preferredPort: number,
  variables: Record<string, string>,
  options: ServerOptions,
): Promise<{ api: string; temporal: TemporalAccess }> {
  const { dataDirectory, onSpawn } = options
  const { access: temporal, ready, comesFirst } = await provideTemporal(options)
  if (comesFirst) await ready
  const environment = {
    ...variables,
    ...temporalVariables(temporal),
    // A certificate is for a deployment; here it would not fit the address.
    TLS_CERT_FILE: '',
    TLS_KEY_FILE: '',
  }
  const port = String(await freePort(preferredPort))
  const start = (name: string, entry: string, extra: Record<string, string>) =>
    startService({
      name,
      entry: path.join(import.meta.dirname, '..', entry),
      environment: processEnvironment({ ...environment, ...extra }),
      logFile: path.join(dataDirectory, `${name.toLowerCase()}.log`),
      onSpawn,
    })
  const [listening] = await Promise.all([
    start('API', 'server.ts', { PORT: port }),
    // Two processes cannot share one port for their metrics.
    start('worker', 'worker.ts', { METRICS_PORT: '' }),
    ready,
  ])
  return { api: `http://127.0.0.1:${listening ?? port}/v1`, temporal }
}

/** By which our processes, and the Temporal command line, find the server. */
export function temporalVariables({ address, namespace, ui }: TemporalAccess): Record<string, string> {
  return { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, ...(ui && { TEMPORAL_UI_URL: ui }) }
}
