import type { Command } from 'commander'
import { oneOf, partnerId } from '../../../staff/arguments.ts'
import type { Run } from '../../../staff/context.ts'
import { nounOf } from '../../../staff/noun.ts'
import { cancelChange } from './cancel-change.ts'
import { selfService } from './self-service.ts'

export function addSelfServiceCommands(program: Command, run: Run): void {
  nounOf(program, 'partner')
    .command('self-service')
    .description('let a partner change its endpoint by API in production, or no longer')
    .argument('<partner>', 'its id', partnerId)
    .argument('<state>', 'on or off', oneOf(['on', 'off']))
    .action(run(selfService))
  nounOf(program, 'endpoint')
    .command('cancel-change')
    .description('cancel the new URL and the new secret that the partner asked for')
    .argument('<partner>', 'its id', partnerId)
    .action(run(cancelChange))
}
