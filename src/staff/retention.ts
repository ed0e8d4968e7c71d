import type { Command } from 'commander'
import { MOST_COUNTED } from '../db/retention/retained.ts'
import { runRetention, showRetention } from '../db/retention/runs.ts'
import {
  type RetentionClass,
  retentionClasses,
  retentionDays,
  retentionMeanings,
} from '../domain/retention.ts'
import { fields, table } from './answer.ts'
import { oneOf } from './arguments.ts'
import type { Run, StaffContext } from './context.ts'

export function addRetentionCommands(program: Command, run: Run): void {
  const meanings = retentionClasses.map((name) => `  ${name.padEnd(18)}${retentionMeanings[name]}`)
  const retention = program
    .command('retention')
    .description('what is removed when it is old')
    .addHelpText('after', ['\nClasses:', ...meanings].join('\n'))
  retention.command('show').description('what a run would remove now: a dry run').action(run(show))
  retention
    .command('run')
    .description('remove it now; the workers do it once a day')
    .option('--class <name>', 'only this class', oneOf(retentionClasses))
    .action(run(runNow))
}

export async function show({ sql, config }: StaffContext) {
  const classes = await showRetention(sql, retentionDays(config))
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

export async function runNow(
  { sql, config, erasure: tools, act }: StaffContext,
  { class: only }: { class?: RetentionClass } = {},
) {
  const days = retentionDays(config)
  const classes = only === undefined ? retentionClasses : [only]
  const removed = await act({ action: 'retention.run', detail: { classes } }, async () => {
    const counts: Partial<Record<RetentionClass, number | null>> = {}
    for (const name of classes) counts[name] = (await runRetention({ sql, days, tools }, name)) ?? null
    return { result: counts, detail: { removed: counts } }
  })
  const shown = Object.entries(removed).map(([name, count]) => [name, count ?? 'off'] as const)
  return { json: { removed }, text: fields({ removed: '', ...Object.fromEntries<string | number>(shown) }) }
}
