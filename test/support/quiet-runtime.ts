import { DefaultLogger, Runtime } from '@temporalio/worker'

let isInstalled = false

/** The SDK's own part of this process, which test files share and which can be installed once. */
export function installQuietRuntime(): void {
  if (isInstalled) return
  isInstalled = true
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
  })
}
