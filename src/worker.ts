import { DefaultLogger, Runtime, type RuntimeOptions } from '@temporalio/worker'
import { readBuild, readConfig, readTemporal } from './config.ts'
import { fail, orFail, reasonOf } from './fail.ts'
import { createLogger, sdkLines } from './observe/log.ts'
import { sdkMetrics } from './observe/worker-metrics.ts'
import { runWorker } from './run-worker.ts'

const config = orFail(() => readConfig('worker'))
const temporal = orFail(() => readTemporal(config))
const build = readBuild(config)
const log = createLogger(config.LOG_LEVEL, 'worker', build)
installRuntime()
const { metricsPort, ready, ended, stop } = await runWorker({ config, temporal, build, log })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
await ready
process.send?.({ type: 'ready', metricsPort })
await ended
if (process.connected) process.disconnect()

/** Installs the SDK's runtime, with its log in ours and its metrics. */
function installRuntime(): void {
  const metrics = sdkMetrics(config)
  const options: RuntimeOptions = {
    logger: new DefaultLogger('INFO', sdkLines(log)),
    // else the native part of the SDK writes to the terminal, in colours
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(metrics && { metrics: { prometheus: metrics } }),
    },
    // signals are handled above
    shutdownSignals: [],
  }
  try {
    Runtime.install(options)
  } catch (error) {
    if (metrics === undefined) throw error
    fail(
      `The metrics of Temporal’s SDK cannot listen on ${metrics.bindAddress}: ${reasonOf(error)}. Free the port, or set TEMPORAL_METRICS_PORT.`,
    )
  }
}
