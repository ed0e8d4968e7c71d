import { CommanderError } from 'commander'
import { ConfigError, readConfig, readTemporal } from '../config.ts'
import { otherSchema } from '../database/schema-version.ts'
import { tlsFault } from '../temporal/remedies.ts'
import type { Write } from './answer.ts'
import { openContext, type Run } from './context.ts'
import { explainDenial, failureOf, Refusal } from './refusal.ts'
import { staffProgram } from './program.ts'

const USAGE_ERROR = 2
const WHO = 'Say who you are, for the audit: export STAFF_NAME=ada with your name, or add --as ada.'

/** Where a command line was typed. */
export interface Terminal {
  environment: NodeJS.ProcessEnv
  /** Who typed it, by the names of the machine. */
  osUser: string
  host: string
  /** The environment variables that lead to the sandbox that runs there; none if none does. */
  runningSandbox?: () => Promise<Record<string, string>>
  write: Write
  writeError: (text: string) => void
  endWith: (exitCode: number) => void
}

/** Carries out what was typed after `npm run staff --`. */
export async function carryOut(args: readonly string[], terminal: Terminal): Promise<void> {
  const { write, writeError, endWith } = terminal
  const complain = (line: string) => writeError(`${line}\n`)

  /** Opens the context, runs what a command does, prints its answer, and closes the context. */
  const run: Run =
    (act) =>
    async (...given) => {
      const { json = false, as } = program.opts<{ json?: boolean; as?: string }>()
      const { config, temporal } = await settingsOf(terminal)
      const name = as ?? config.STAFF_NAME
      if (name === undefined) throw new Refusal(WHO)
      const { osUser, host } = terminal
      const context = await openContext(config, temporal, { name, osUser, host })
      try {
        const remedy = await otherSchema(context.sql)
        if (remedy !== undefined) throw new Refusal(remedy)
        await context.deployment()
        const answer = await act(context, ...given)
        if ('print' in answer) return await answer.print(json, write)
        endWith(answer.exitCode ?? (answer.failed ? 1 : 0))
        await write(`${json ? JSON.stringify(answer.json, null, 2) : answer.text}\n`)
      } catch (error) {
        const cause = explainDenial(error)
        const { message, reason } = failureOf(cause, context.temporal.address)
        const fault = reason === 'temporal_away' ? await tlsFault(temporal.connectionOptions) : undefined
        complain(fault ?? message)
        endWith(1)
      } finally {
        await context.close()
      }
    }

  const program = staffProgram(run, {
    writeOut: (text) => void write(text),
    writeErr: writeError,
  })
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    endWith(exitCodeOf(error, complain))
  }
}

/** Of the deployment that the environment names, else of the sandbox that runs on the machine. */
async function settingsOf({ environment, runningSandbox }: Terminal) {
  const sandbox = environment.DATABASE_URL ? {} : { ...(await runningSandbox?.()) }
  if (!environment.DATABASE_URL && sandbox.DATABASE_URL === undefined) {
    throw new Refusal(
      'No deployment to work on: run npm start for a sandbox, or set DATABASE_URL and the other settings of docs/settings.md.',
    )
  }
  const config = readConfig('staff', sandbox, environment)
  return { config, temporal: readTemporal(config, { ...environment, ...sandbox }) }
}

function exitCodeOf(error: unknown, complain: (line: string) => void): number {
  // commander has printed its line; help is an error with exit code 0
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? 0 : USAGE_ERROR
  }
  complain(error instanceof ConfigError ? error.message : failureOf(error).message)
  return 1
}
