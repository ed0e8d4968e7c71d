import { readBuild, readConfig, readTemporal } from './config.ts'
import { orFail } from './fail.ts'
import { createLogger } from './observe/log.ts'
import { runApi } from './run-api.ts'

const config = orFail(() => readConfig('api'))
const temporal = orFail(() => readTemporal(config))
const build = readBuild(config)
const log = createLogger(config.LOG_LEVEL, 'api', build)
const { port, metricsPort, stop } = await runApi({ config, temporal, build, log })
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    void stop(signal === 'SIGINT').then(() => process.connected && process.disconnect())
  })
process.send?.({ type: 'ready', port, metricsPort })
