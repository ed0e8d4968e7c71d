import type { Command } from 'commander'
import { compareLeads } from '../leads/comparison.ts'
import { fields } from '../staff/answer.ts'
import type { Run, StaffContext } from '../staff/context.ts'

export function addWorkflowCommands(program: Command, run: Run): void {
  program
    .command('workflow')
    .description('workflows in Temporal')
    .command('rebuild')
    .description('start a workflow for each open lead that has none, from PostgreSQL; repeats no webhook')
    .action(run(rebuild))
}

/** Runs the daily comparison now, for example after Temporal's data was lost. The text has counts, JSON has ids. */
async function rebuild(context: StaffContext) {
  await context.requireOwnNamespace()
  const repairs = await context.act({ action: 'workflow.rebuild' }, async () => {
    const result = await compareLeads(context)
    return { result, detail: { started: result.started.length, refreshed: result.refreshed.length } }
  })
  const { started, refreshed } = repairs
  const failed = repairs.failed.map(({ item }) => item)
  return {
    json: { started, refreshed, failed },
    text: fields({
      started: started.length,
      refreshed: refreshed.length,
      ...(failed.length > 0 && { 'failed, try again': failed.length }),
    }),
    failed: failed.length > 0,
  }
}
