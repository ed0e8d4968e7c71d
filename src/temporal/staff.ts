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

/** What the workers do once a day, now: for example after Temporal's data was lost. */
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
      started: listed(started),
      refreshed: listed(refreshed),
      ...(failed.length > 0 && { 'failed, try again': listed(failed) }),
    }),
    failed: failed.length > 0,
  }
}

/** More ids than these are counted, not listed. */
const MOST_LISTED = 20

function listed(ids: number[]): string {
  if (ids.length === 0) return 'none'
  const more = ids.length > MOST_LISTED ? ', …' : ''
  return `${ids.length} (leads ${ids.slice(0, MOST_LISTED).join(', ')}${more})`
}
