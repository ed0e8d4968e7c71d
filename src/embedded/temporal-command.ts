import { spawnSync } from 'node:child_process'
import { processEnvironment } from '../config.ts'
import { fail, reasonOf } from '../fail.ts'
import { runningSandbox } from './run.ts'
import { findTemporal } from './temporal-program.ts'

/** `npm run temporal`: the Temporal CLI, connected to the server that the environment names, or to the running sandbox. */
const given = processEnvironment()
const environment = given.TEMPORAL_ADDRESS ? given : { ...given, ...(await sandboxTemporal()) }
const program = await findTemporal(environment).catch((error: unknown) => fail(reasonOf(error)))
const { status } = spawnSync(program, process.argv.slice(2), { stdio: 'inherit', env: environment })
if (status !== 0 && !environment.TEMPORAL_ADDRESS)
  process.stderr.write('The sandbox is not running here: start it with npm start.\n')
process.exitCode = status ?? 1

/** The sandbox's Temporal variables; some are empty, to turn off settings for another server. */
async function sandboxTemporal() {
  const variables = Object.entries(await runningSandbox())
  return Object.fromEntries(variables.filter(([name]) => name.startsWith('TEMPORAL_')))
}
