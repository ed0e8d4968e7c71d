import type { Command } from 'commander'
import { oneOf, partnerId } from '../../../staff/arguments.ts'
import type { Run } from '../../../staff/context.ts'
import { nounOf } from '../../../staff/noun.ts'
import { selfService } from './self-service.ts'

export function addSelfServiceCommands(program: Command, run: Run): void {
  nounOf(program, 'partner')
    .command('self-service')
    .description('let a partner change its endpoint by API in production, or no longer')
    .argument('<partner>', 'its id', partnerId)
    .argument('<state>', 'on or off', oneOf(['on', 'off']))
    .action(run(selfService))
}
