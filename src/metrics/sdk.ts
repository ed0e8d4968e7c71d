import { isIPv6 } from 'node:net'
import type { Config } from '../config/schema.ts'

type Settings = Pick<Config<'worker'>, 'HOST' | 'METRICS_HOST' | 'TEMPORAL_METRICS_PORT'>

/** Where Temporal's SDK serves its own metrics, if it does, under the names that Prometheus and Temporal's dashboards use. */
export function sdkMetrics({ HOST, METRICS_HOST, TEMPORAL_METRICS_PORT: port }: Settings) {
  if (port === undefined) return undefined
  return {
    bindAddress: `${addressOf(METRICS_HOST ?? HOST)}:${port}`,
    countersTotalSuffix: true,
    unitSuffix: true,
    useSecondsForDurations: true,
  }
}

/** The SDK takes no names. */
function addressOf(host: string): string {
  if (host === 'localhost') return '127.0.0.1'
  return isIPv6(host) ? `[${host}]` : host
}
