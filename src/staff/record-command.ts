import type { Command } from 'commander'
import { fields } from './answer.ts'
import type { Run, StaffContext } from './context.ts'
import { raiseEpoch } from '../database/deployment.ts'

export function addRecordCommands(program: Command, run: Run): void {
  program
    .command('record')
    .description('the record in PostgreSQL, after it came back with less than it had')
    .addHelpText('after', '\nExample:\n  npm run staff -- record restored')
    .command('restored')
    .description(
      'say that PostgreSQL was restored, or failed over with lost commits, before the processes start: ids and sequences are left out, workflows go on with what the record has, and the partners are told',
    )
    .action(run(restored))
}

export async function restored({ change }: StaffContext) {
  const epoch = await change(async ({ sql, audit }) => {
    const raised = await raiseEpoch(sql)
    await audit({ action: 'record.restored', detail: { epoch: raised } })
    return raised
  })
  return { json: { epoch }, text: [fields({ epoch }), AFTER].join('\n') }
}

const AFTER =
  'Erase again what was erased since: lead erase --from FILE, with the erasure log. Then start the processes: within five minutes, all workflows go on with what the record has, and the partners get a mail.'
