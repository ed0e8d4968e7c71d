import { Command, CommanderError, type OutputConfiguration } from 'commander'
import { readConfig, readTemporal } from '../config.ts'
import { requireSchema } from '../database/schema.ts'
import { addRecordCommands } from '../database/staff.ts'
import { addDeliveryCommands } from '../deliveries/staff.ts'
import { addEndpointCommands } from '../endpoints/staff.ts'
import { addLeadCommands, addMilestoneCommand } from '../leads/staff.ts'
import { addKeyCommands, addPartnerCommands } from '../partners/staff.ts'
import { addEncryptionCommands } from '../privacy/encryption.ts'
import { Refusal } from '../fail.ts'
import { addPrivacyCommands } from '../privacy/staff.ts'
import { addWorkflowCommands } from '../temporal/staff.ts'
import { NAME } from '../values.ts'
import { matching } from './arguments.ts'
import { addAttentionCommand } from './attention.ts'
import { openContext, type Run } from './context.ts'
import { failureLine } from './failure.ts'

/** What a room adds, in the order of the help. */
const commands = [
  addAttentionCommand,
  addPartnerCommands,
  addKeyCommands,
  addEndpointCommands,
  addMilestoneCommand,
  addLeadCommands,
  addPrivacyCommands,
  addDeliveryCommands,
  addWorkflowCommands,
  addRecordCommands,
  addEncryptionCommands,
]

const introduction = [
  'Command line for the staff of the Partner Referral Service.',
  'A partner is a lender that refers borrowers. It has API keys, and an endpoint that receives its webhooks. Each borrower is a lead with its own workflow. A milestone of a lead is recorded as an event and delivered to the endpoint.',
  'The commands work on the sandbox that "npm start" runs, or on the deployment that DATABASE_URL and the other settings of docs/settings.md name.',
].join('\n\n')

const examples = `
Example, from a new partner to its first webhook:
  export STAFF_NAME=ada
  npm run staff -- partner add "First Lender"
  npm run staff -- key issue 1
  npm run staff -- endpoint set 1 https://lender.example/webhooks
  npm run staff -- milestone 1 contract_signed
  npm run staff -- lead show 1`

/** The command line with its global options. It throws usage errors and does not exit. */
export function staffProgram(run: Run, output: OutputConfiguration = {}): Command {
  const actor = matching(NAME, 'Use a name of 1 to 100 characters.')
  const program = new Command('npm run staff --')
    .description(introduction)
    .option('--json', 'print one JSON document')
    .option('--as <name>', 'who acts, for the audit (default: the environment variable STAFF_NAME)', actor)
    .addHelpText('after', examples)
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .exitOverride()
    // before the commands, which inherit it
    .configureOutput(output)
  for (const add of commands) add(program, run)
  return program
}

const USAGE_ERROR = 2
const WHO = 'Say who you are, for the audit: export STAFF_NAME=ada with your name, or add --as ada.'
const NO_DEPLOYMENT =
  'No deployment to work on: run npm start for a sandbox, or set DATABASE_URL and the other settings of docs/settings.md.'

/** Where a command line was typed. */
export interface Terminal {
  environment: NodeJS.ProcessEnv
  /** The environment variables that lead to the sandbox on this machine; none if it is not running. */
  runningSandbox?: () => Promise<Record<string, string>>
  /** Writes to stdout, and resolves once there is room for more. */
  write: (text: string) => Promise<void>
  writeError: (text: string) => void
  endWith: (exitCode: number) => void
}

/** Carries out what was typed after `npm run staff --`. */
export async function carryOut(args: readonly string[], terminal: Terminal): Promise<void> {
  const { write, writeError, endWith } = terminal
  const fail = (message: string) => {
    writeError(`${message}\n`)
    endWith(1)
  }
  /** Opens the context, runs what a command does, prints its answer, and closes the context. */
  const run: Run =
    (act) =>
    async (...given) => {
      const { json = false, as } = program.opts<{ json?: boolean; as?: string }>()
      const { config, temporal } = await settingsOf(terminal)
      const name = as ?? config.STAFF_NAME
      if (name === undefined) throw new Refusal(WHO)
      const context = await openContext(config, temporal, name)
      try {
        await requireSchema(context.sql)
        await context.deployment()
        const answer = await act(context, ...given)
        if ('rows' in answer) {
          for await (const row of answer.rows) await write(`${JSON.stringify(row)}\n`)
          return
        }
        endWith(answer.exitCode ?? (answer.failed ? 1 : 0))
        // a terminal obeys control characters, and some of the text is partners'
        const text = answer.text.replaceAll(/[^\P{Cc}\n]/gu, ' ')
        await write(`${json ? JSON.stringify(answer.json, null, 2) : text}\n`)
      } catch (error) {
        fail(failureLine(error, context.temporal.address))
      } finally {
        await context.close()
      }
    }
  const program = staffProgram(run, { writeOut: (text) => void write(text), writeErr: writeError })
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    // commander has printed its line; help is an error with exit code 0
    if (error instanceof CommanderError) endWith(error.exitCode === 0 ? 0 : USAGE_ERROR)
    else fail(failureLine(error))
  }
}

/** The settings of the deployment that the environment names, or else of the running sandbox. */
async function settingsOf({ environment, runningSandbox }: Terminal) {
  const sandbox = environment.DATABASE_URL ? {} : { ...(await runningSandbox?.()) }
  if (!environment.DATABASE_URL && sandbox.DATABASE_URL === undefined) throw new Refusal(NO_DEPLOYMENT)
  const config = readConfig('staff', sandbox, environment)
  return { config, temporal: readTemporal(config, { ...environment, ...sandbox }) }
}
