import { spawnSync } from 'node:child_process'
import { processEnvironment } from './config.ts'
import { runningSandbox } from './embedded/run.ts'
import { findTemporal } from './embedded/temporal-program.ts'

/** The Temporal CLI, connected to the server that the environment names, or to the running sandbox. */
try {
  const given = processEnvironment()
  const environment = given.TEMPORAL_ADDRESS ? given : { ...given, ...(await sandboxTemporal()) }
  const program = await findTemporal(environment)
  const { status } = spawnSync(program, process.argv.slice(2), { stdio: 'inherit', env: environment })
  if (status !== 0 && !environment.TEMPORAL_ADDRESS)
    console.error('The sandbox is not running here: start it with npm start.')
  process.exitCode = status ?? 1
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

/** With what turns off settings that are for another server. */
async function sandboxTemporal() {
  const variables = Object.entries(await runningSandbox())
  return Object.fromEntries(variables.filter(([name]) => name.startsWith('TEMPORAL_')))
}
