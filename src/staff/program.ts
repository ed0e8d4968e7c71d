import { Command } from 'commander'
import { addDeliveryCommands } from './delivery.ts'
import type { Run } from './context.ts'
import { addEndpointCommands } from './endpoint.ts'
import { addKeyCommands } from './key.ts'
import { addLeadCommands } from './lead.ts'
import { addMilestoneCommand } from './milestone.ts'
import { addPartnerCommands } from './partner.ts'
import { addWorkflowCommands } from './workflow.ts'

// each paragraph on one line: commander wraps them to the terminal's width
const introduction = [
  'The staff’s command line of the Partner Referral Service.',
  'A partner is a lender that refers borrowers; it has keys for the API and an endpoint for its webhooks. Each borrower is a lead with a workflow of its own; a milestone is recorded as an event and delivered to the endpoint.',
  'Works on the sandbox that "npm start" runs, or on what DATABASE_URL and the other settings of docs/settings.md name.',
].join('\n\n')

const examples = `
Example, from nothing to a webhook:
  npm run staff -- partner add "First Lender"
  npm run staff -- key issue 1
  npm run staff -- endpoint set 1 https://lender.example/webhooks
  npm run staff -- milestone 1 contract_signed
  npm run staff -- lead show 1`

/** The command line, with its global options; usage errors are thrown, not exited with. */
export function staffProgram(run: Run): Command {
  const program = new Command('npm run staff --')
    .description(introduction)
    .option('--json', 'print one JSON document')
    .option('--as <who>', 'who acts, for the audit (default: your name on this machine)')
    .addHelpText('after', examples)
    .helpCommand(false)
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(oneLine(text)) })
  addPartnerCommands(program, run)
  addKeyCommands(program, run)
  addEndpointCommands(program, run)
  addMilestoneCommand(program, run)
  addLeadCommands(program, run)
  addDeliveryCommands(program, run)
  addWorkflowCommands(program, run)
  return program
}

function oneLine(text: string): string {
  const line = text
    .trim()
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ')
  return `${line.charAt(0).toUpperCase()}${line.slice(1)}${/[.?)]$/.test(line) ? '' : '.'} Add --help to see how.\n`
}
