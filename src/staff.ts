import { userInfo } from 'node:os'
import { CommanderError } from 'commander'
import { type Config, ConfigError, processEnvironment, readConfig } from './config.ts'
import { olderSchema } from './db/schema-version.ts'
import { runningSandbox } from './embedded/run-file.ts'
import { openContext, type Run } from './staff/context.ts'
import { staffProgram } from './staff/program.ts'
import { describeFailure, Refusal } from './staff/refusal.ts'
import { temporalSettings } from './temporal/client.ts'

const WHO = /^[^\p{Cc}]{1,100}$/u
const USAGE_ERROR = 2

/** Makes a command of the command line out of what it does: opens what it needs, prints the answer, closes. */
const run: Run =
  (act) =>
  async (...args) => {
    const { json = false, as: who } = program.opts<{ json?: boolean; as?: string }>()
    const { config, environment } = settings()
    const temporal = temporalSettings(environment)
    const context = await openContext(config, temporal, actor(who))
    try {
      const remedy = await olderSchema(context.sql)
      if (remedy !== undefined) throw new Refusal(remedy)
      await context.deployment()
      const answer = await act(context, ...args)
      console.log(json ? JSON.stringify(answer.json, null, 2) : answer.text)
      if (answer.failed) process.exitCode = 1
    } catch (error) {
      console.error(describeFailure(error, temporal.connectionOptions.address))
      process.exitCode = 1
    } finally {
      await context.close()
    }
  }

const program = staffProgram(run)
try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = exitCodeOf(error)
}

/** What the environment names, else the sandbox that runs beside us. */
function settings(): { config: Config<'staff'>; environment: NodeJS.ProcessEnv } {
  const environment = processEnvironment()
  if (environment.DATABASE_URL) return { config: readConfig('staff'), environment }
  const sandbox = runningSandbox()
  if (sandbox.DATABASE_URL === undefined) {
    throw new Refusal(
      'Nothing to work on: run npm start for a sandbox, or set DATABASE_URL and the other settings of docs/settings.md.',
    )
  }
  const config = readConfig('staff', sandbox)
  return { config, environment: { ...environment, ...sandbox } }
}

function actor(who: string | undefined): string {
  const name = who ?? account()
  if (WHO.test(name)) return name
  throw new Refusal('--as takes a name of 1 to 100 characters.')
}

/** A container may run as a user without a name. */
function account(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

function exitCodeOf(error: unknown): number {
  // its line is printed already; help is an error of exit code 0
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0
    return error.code === 'commander.invalidArgument' ? 1 : USAGE_ERROR
  }
  if (error instanceof ConfigError) console.error(error.message)
  else console.error(describeFailure(error, ''))
  return 1
}
