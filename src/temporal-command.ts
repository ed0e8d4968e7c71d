import { spawnSync } from 'node:child_process'
import { processEnvironment } from './config.ts'
import { runningSandbox } from './embedded/run.ts'
import { findTemporal } from './embedded/temporal-program.ts'

/** Temporal's own command line, pointed at the running sandbox or at what the environment names. */
try {
  const sandbox = runningSandbox()
  const environment = processEnvironment()
  const program = await findTemporal({ environment, report: (line) => console.error(line) })
  const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = { ...sandbox, ...environment }
  const env = processEnvironment({
    ...(TEMPORAL_ADDRESS && { TEMPORAL_ADDRESS }),
    ...(TEMPORAL_NAMESPACE && { TEMPORAL_NAMESPACE }),
  })
  const { status } = spawnSync(program, process.argv.slice(2), { stdio: 'inherit', env })
  if (status !== 0 && !TEMPORAL_ADDRESS) console.error('The sandbox is not running here: npm start runs it.')
  process.exitCode = status ?? 1
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
