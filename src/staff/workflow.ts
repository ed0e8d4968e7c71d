import type { Command } from 'commander'
import { reconcile } from '../jobs/reconcile.ts'
import type { Answer } from './answer.ts'
import type { StaffContext, Run } from './context.ts'

/** Ids beyond these are counted, not listed. */
const MOST_LISTED = 20

export function addWorkflowCommands(program: Command, run: Run): void {
  const workflow = program
    .command('workflow')
    .description('what runs in Temporal')
    .addHelpText('after', '\nExample:\n  npm run staff -- workflow rebuild --dry-run')
  workflow
    .command('rebuild')
    .description('start the workflow of every open lead that has none, from the record; repeats no webhook')
    .option('--dry-run', 'only say what would be started')
    .action(run(rebuild))
}

/** What the workers do daily, now: after Temporal's data was lost for example. */
export async function rebuild(
  context: StaffContext,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<Answer> {
  await context.requireOwnNamespace()
  const { open, started, refreshed, failed } = dryRun
    ? await reconcile(context, { dryRun })
    : await context.act({ action: 'workflow.rebuild' }, async () => {
        const result = await reconcile(context)
        return { result, detail: { started: result.started.length, refreshed: result.refreshed.length } }
      })
  const [start, tell] = dryRun ? ['Would start', 'would tell'] : ['Started', 'told']
  return {
    json: { dry_run: dryRun, open, started, refreshed, failed },
    text: [
      `${start} ${count(started)} of ${open} open leads from the record${listed(started)};`,
      `${tell} ${count(refreshed)} to read the record again${listed(refreshed)}.`,
      ...(failed.length === 0 ? [] : [`Could not reach ${count(failed)}${listed(failed)}: try again.`]),
    ].join(' '),
    ...(failed.length > 0 && { failed: true as const }),
  }
}

const count = (ids: number[]) => (ids.length === 0 ? 'none' : String(ids.length))

function listed(ids: number[]): string {
  if (ids.length === 0) return ''
  return ` (${ids.slice(0, MOST_LISTED).join(', ')}${ids.length > MOST_LISTED ? ', …' : ''})`
}
