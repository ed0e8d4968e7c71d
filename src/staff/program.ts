import { Command, type OutputConfiguration } from 'commander'
import { printable } from './answer.ts'
import { matching } from './arguments.ts'
import type { Run } from './context.ts'
import { STAFF_NAME } from '../values.ts'
import { addErasureCommands, addLeadExport, addRetentionCommands, retentionInbox } from '../privacy/staff.ts'
import { addAuditCommands } from './audit-command.ts'
import { addDeliveryCommands } from '../deliveries/staff.ts'
import { addEndpointCommands, addSelfServiceCommands } from '../endpoints/staff.ts'
import { addEncryptionCommands } from '../privacy/encryption.ts'
import { faultsInbox, givenUpInbox } from '../deliveries/attention.ts'
import { endpointsInbox, noticesInbox } from '../endpoints/attention.ts'
import { onboardingInbox, unstartedInbox, withoutNewsInbox } from '../leads/attention.ts'
import { addKeyCommands, addPartnerCommands, keysInbox } from '../partners/staff.ts'
import { addWorkflowCommands, temporalInbox } from '../temporal/staff.ts'
import { addInboxCommand, certificatesInbox } from './attention-command.ts'
import { addFindCommand } from '../leads/staff-find.ts'
import { addLeadCommands, addMilestoneCommand } from '../leads/staff.ts'
import { addSandboxCommands } from '../sandbox/staff.ts'
import { addRecordCommands } from './record-command.ts'
import { retained } from '../privacy/retention-table.ts'

// each paragraph on one line: commander wraps them to the terminal's width
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

/** What rooms add to commands of others. */
const added = {
  inbox: [
    // the worst first: what stops everything, then what is lost or late, then what will be
    temporalInbox,
    unstartedInbox,
    faultsInbox,
    endpointsInbox,
    givenUpInbox,
    noticesInbox,
    onboardingInbox,
    keysInbox,
    certificatesInbox,
    retentionInbox,
    withoutNewsInbox,
  ],
  retained,
}

/** The kinds of what waits for a person, the worst first. */
export const inboxKinds = added.inbox.map(({ kind }) => kind)

/** The command line with its global options. It throws usage errors and does not exit. */
export function staffProgram(run: Run, output: OutputConfiguration = {}): Command {
  const actor = matching(STAFF_NAME, 'Use a name of 1 to 100 characters.')
  const program = new Command('npm run staff --')
    .description(introduction)
    .option('--json', 'print one JSON document')
    .option('--as <name>', 'who acts, for the audit (default: the environment variable STAFF_NAME)', actor)
    .addHelpText('after', examples)
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .exitOverride()
    // before the commands, which inherit it
    .configureOutput({
      ...output,
      outputError: (text, write) => write(oneLine(withCommands(program, text))),
    })
  addInboxCommand(program, run, added.inbox)
  addFindCommand(program, run)
  addPartnerCommands(program, run)
  addKeyCommands(program, run)
  addEndpointCommands(program, run)
  addMilestoneCommand(program, run)
  addLeadCommands(program, run)
  addDeliveryCommands(program, run)
  addWorkflowCommands(program, run)
  addRecordCommands(program, run)
  addEncryptionCommands(program, run)
  addAuditCommands(program, run)
  addLeadExport(program, run)
  addErasureCommands(program, run)
  addRetentionCommands(program, run, added.retained)
  addSelfServiceCommands(program, run)
  addSandboxCommands(program, run)
  return program
}

/** An unknown command of a noun, with those that there are. */
function withCommands(program: Command, text: string): string {
  const noun = program.commands.find((command) => command.name() === program.args[0])
  if (!/unknown command/.test(text) || noun === undefined) return text
  const names = noun.commands.map((command) => command.name())
  return `${text.trim()}: ${noun.name()} has ${names.join(', ')}`
}

function oneLine(text: string): string {
  const line = printable(text)
    .trim()
    .replace(/^error: /, '')
    .replace(/^command-argument value (.*) is invalid for argument '([^']+)'/, '$1 is not valid as <$2>')
  return `${line.charAt(0).toUpperCase()}${line.slice(1)}${/[.?]$/.test(line) ? '' : '.'} Add --help for usage.\n`
}
