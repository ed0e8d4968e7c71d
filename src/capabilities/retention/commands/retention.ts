import type { Command } from 'commander'
import { MOST_COUNTED, type Retained, RetentionHeld } from '../../../core/database/retained.ts'
import { runRetention, retentionDryRun } from '../statements/runs.ts'
import { fields, table } from '../../../staff/answer.ts'
import { oneOf } from '../../../staff/arguments.ts'
import type { Run, StaffContext } from '../../../staff/context.ts'
import { Refusal } from '../../../staff/refusal.ts'
import { type Limits, limitsOf } from './limits.ts'

type Classes = readonly Retained<Limits>[]

/** @param classes what is removed when it is old. */
export function addRetentionCommands(program: Command, run: Run, classes: Classes): void {
  const meanings = classes.map(({ name, meaning }) => `  ${name.padEnd(18)}${meaning}`)
  const names = classes.map(({ name }) => name)
  const retention = program
    .command('retention')
    .description('what is removed when it is old')
    .addHelpText('after', ['\nClasses:', ...meanings].join('\n'))
  retention
    .command('show')
    .description('what a run would remove now: a dry run')
    .action(run((context) => showRetention(context, classes)))
  retention
    .command('run')
    .description('remove it now; the workers do it once a day')
    .option('--class <name>', 'only this class', oneOf(names))
    .action(
      run((context, { class: only }: { class?: string }) =>
        runNow(
          context,
          classes.filter(({ name }) => only === undefined || name === only),
        ),
      ),
    )
}

export async function showRetention({ sql, config }: StaffContext, retained: Classes) {
  const classes = await retentionDryRun(sql, retained, limitsOf(config))
  const rowsOf = (rows: number) => (rows === MOST_COUNTED ? `${rows} or more` : rows)
  return {
    json: { classes },
    text: table(classes, {
      class: 'class',
      'days kept': ({ days }) => days ?? 'off',
      'to be removed': ({ rows }) => (rows === undefined ? null : rowsOf(rows)),
      oldest: 'oldest',
      'last run': 'ran_at',
      'removed then': 'removed',
    }),
  }
}

function refuseHeld(error: unknown): never {
  throw error instanceof RetentionHeld ? new Refusal(error.message) : error
}

export async function runNow({ sql, config: given, act }: StaffContext, retained: Classes) {
  const config = limitsOf(given)
  const names = retained.map(({ name }) => name)
  const removed = await act({ action: 'retention.run', detail: { classes: names } }, async () => {
    const counts: Record<string, number | null> = {}
    for (const each of retained)
      counts[each.name] = (await runRetention({ sql, config }, each).catch(refuseHeld)) ?? null
    return { result: counts, detail: { removed: counts } }
  })
  const shown = Object.entries(removed).map(([name, count]) => [name, count ?? 'off'] as const)
  return { json: { removed }, text: fields({ removed: '', ...Object.fromEntries<string | number>(shown) }) }
}
