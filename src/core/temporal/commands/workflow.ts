import type { Command } from 'commander'
import { reconcile } from '../../leads/workflows/reconcile.ts'
import { fields } from '../../../staff/answer.ts'
import { matching, whole } from '../../../staff/arguments.ts'
import type { StaffContext, Run } from '../../../staff/context.ts'
import { carryOut, preview } from './workflow-repair.ts'
import { watchBuild, type WatchOptions } from './workflow-watch.ts'

/** More ids than these are counted, not listed. */
const MOST_LISTED = 20

export function addWorkflowCommands(program: Command, run: Run): void {
  const workflow = program
    .command('workflow')
    .description('workflows in Temporal')
    .addHelpText('after', '\nExample:\n  npm run staff -- workflow rebuild --dry-run')
  workflow
    .command('rebuild')
    .description('start a workflow for each open lead that has none, from PostgreSQL; repeats no webhook')
    .option('--dry-run', 'only say what would be started')
    .action(run(rebuild))
  workflow
    .command('repair')
    .description(
      'reset the workflows whose task fails, after a bad version was rolled back; loses nothing and repeats no webhook. Without --yes, it only says which',
    )
    .option('--yes', 'do it')
    .option('--build <id>', 'all running workflows on which this build has worked, failing or not', build)
    .action(
      run(async (context, { yes, ...options }: { yes?: boolean; build?: string }) =>
        yes === true ? carryOut(context, options) : preview(context, options),
      ),
    )
  workflow
    .command('watch')
    .description(
      'watch a build that is being rolled out; ends at once, with exit code 1, if it must be taken back',
    )
    .argument('<build>', 'the build’s id, as its workers log it', build)
    .option('--seconds <number>', 'how long', whole(0, MOST_SECONDS), FIVE_MINUTES)
    .option(
      '--at-least <number>',
      'on how many workflows it must have worked: one that did nothing shows nothing',
      whole(0, 1_000_000),
      1,
    )
    .option(
      '--prometheus <url>',
      'look at alerts, failing activities and attempts too, as this Prometheus has them',
      webAddress,
    )
    .action(run((context, id: string, options: WatchOptions) => watchBuild(context, id, options)))
}

const FIVE_MINUTES = 300
const MOST_SECONDS = 86_400

const webAddress = matching(
  /^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/,
  'Use a URL such as http://prometheus:9090.',
)

/** It becomes part of a query. */
const build = matching(
  /^[\w.@/+:-]{1,255}$/,
  'Use a build’s id: "workflow repair" shows those of what fails.',
)

/** What the workers do once a day, now: for example after Temporal's data was lost. */
export async function rebuild(context: StaffContext, { dryRun = false }: { dryRun?: boolean } = {}) {
  await context.requireOwnNamespace()
  const { open, started, refreshed, failed } = dryRun
    ? await reconcile(context, { dryRun })
    : await context.act({ action: 'workflow.rebuild' }, async () => {
        const result = await reconcile(context)
        return { result, detail: { started: result.started.length, refreshed: result.refreshed.length } }
      })
  return {
    json: { dry_run: dryRun, open, started, refreshed, failed },
    text: fields({
      'open leads': open,
      [dryRun ? 'to be started' : 'started']: listed(started),
      [dryRun ? 'to be refreshed' : 'refreshed']: listed(refreshed),
      ...(failed.length > 0 && { 'failed, try again': listed(failed) }),
    }),
    failed: failed.length > 0,
  }
}

function listed(ids: number[]): string {
  if (ids.length === 0) return 'none'
  const more = ids.length > MOST_LISTED ? ', …' : ''
  return `${ids.length} (leads ${ids.slice(0, MOST_LISTED).join(', ')}${more})`
}
