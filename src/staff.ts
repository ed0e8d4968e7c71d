import { once } from 'node:events'
import { hostname, userInfo } from 'node:os'
import { CommanderError } from 'commander'
import { ConfigError, misspeltSettings, processEnvironment, readConfig, readTemporal } from './config.ts'
import { olderSchema } from './core/database/schema/schema-version.ts'
import { tlsFault } from './core/temporal/tls-fault.ts'
import { runningSandbox } from './embedded/run.ts'
import { openContext, type Run } from './staff/context.ts'
import { explainDenial } from './staff/permission.ts'
import { staffProgram } from './staff/program.ts'
import { failureOf, Refusal } from './staff/refusal.ts'

const USAGE_ERROR = 2
const WHO = 'Say who you are, for the audit: export STAFF_NAME=ada with your name, or add --as ada.'

/** Opens the context, runs what a command does, prints its answer, and closes the context. */
const run: Run =
  (act) =>
  async (...args) => {
    const { json = false, as } = program.opts<{ json?: boolean; as?: string }>()
    const { config, temporal } = settings()
    const name = as ?? config.STAFF_NAME
    if (name === undefined) throw new Refusal(WHO)
    const context = await openContext(config, temporal, { name, osUser: userName(), host: hostname() })
    try {
      const remedy = await olderSchema(context.sql)
      if (remedy !== undefined) throw new Refusal(remedy)
      await context.deployment()
      const answer = await act(context, ...args)
      if ('print' in answer) return await answer.print(json, write)
      console.log(json ? JSON.stringify(answer.json, null, 2) : answer.text)
      process.exitCode = answer.exitCode ?? (answer.failed ? 1 : 0)
    } catch (error) {
      const cause = await explainDenial(context.sql, error)
      const { message, reason } = failureOf(cause, context.temporal.address)
      const fault = reason === 'temporal_away' ? await tlsFault(temporal.connectionOptions) : undefined
      console.error(fault ?? message)
      process.exitCode = 1
    } finally {
      await context.close()
    }
  }

// A reader may go away, as `head` does: nothing is left to say, because the answer comes last.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit()
  console.error(`The answer cannot be written: ${message}`)
  process.exit(1)
})

const program = staffProgram(run)
try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = exitCodeOf(error)
}

/** Of the deployment that the environment names, else of the sandbox that runs on this machine. */
function settings() {
  const environment = processEnvironment()
  const sandbox: Record<string, string> = {}
  if (!environment.DATABASE_URL) Object.assign(sandbox, runningSandbox())
  if (!environment.DATABASE_URL && sandbox.DATABASE_URL === undefined) {
    throw new Refusal(
      'No deployment to work on: run npm start for a sandbox, or set DATABASE_URL and the other settings of docs/settings.md.',
    )
  }
  misspeltSettings(environment).forEach((line) => console.error(line))
  const config = readConfig('staff', sandbox)
  return { config, temporal: readTemporal(config, { ...environment, ...sandbox }) }
}

async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}

function exitCodeOf(error: unknown): number {
  // commander has printed its line; help is an error with exit code 0
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? 0 : USAGE_ERROR
  }
  console.error(error instanceof ConfigError ? error.message : failureOf(error).message)
  return 1
}
