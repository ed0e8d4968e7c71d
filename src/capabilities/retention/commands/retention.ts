import type { Command } from 'commander'
import { confirmLeads, RetentionHeld } from '../statements/brakes.ts'
import { MOST_COUNTED } from '../statements/retained.ts'
import { runRetention, showRetention } from '../statements/runs.ts'
import {
  type RetentionClass,
  retentionClasses,
  retentionDays,
  retentionMeanings,
} from '../decisions/retention.ts'
import { fields, table } from '../../../staff/answer.ts'
import { oneOf, whole } from '../../../staff/arguments.ts'
import type { Run, StaffContext } from '../../../staff/context.ts'
import { requireWholeJournal } from '../../erasure/commands/erasure-journal.ts'
import { Refusal } from '../../../staff/refusal.ts'

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
  retention
    .command('confirm')
    .description('let retention erase so many leads within the next 24 hours: see "retention show" before')
    .argument('<leads>', 'how many', whole(1, 10_000_000))
    .action(run(confirm))
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

/** Above its ceiling, retention erases nothing before somebody has looked. */
export async function confirm({ change }: StaffContext, most: number) {
  await change(async ({ sql, audit }) => {
    await confirmLeads(sql, most)
    await audit({ action: 'retention.confirm', detail: { class: 'leads', most } })
  })
  return {
    json: { class: 'leads', most },
    text: `Within the next 24 hours, retention erases up to ${most} leads. The workers begin within a minute.`,
  }
}

function refuseHeld(error: unknown): never {
  throw error instanceof RetentionHeld ? new Refusal(error.message) : error
}

export async function runNow(context: StaffContext, { class: only }: { class?: RetentionClass } = {}) {
  const { sql, config, erasure: tools, act } = context
  if (only === undefined || only === 'leads') await requireWholeJournal(context)
  const options = {
    sql,
    tools,
    days: retentionDays(config),
    mostLeadsADay: config.RETENTION_LEADS_MOST_A_DAY,
  }
  const classes = only === undefined ? retentionClasses : [only]
  const removed = await act({ action: 'retention.run', detail: { classes } }, async () => {
    const counts: Partial<Record<RetentionClass, number | null>> = {}
    for (const name of classes) counts[name] = (await runRetention(options, name).catch(refuseHeld)) ?? null
    return { result: counts, detail: { removed: counts } }
  })
  const shown = Object.entries(removed).map(([name, count]) => [name, count ?? 'off'] as const)
  return { json: { removed }, text: fields({ removed: '', ...Object.fromEntries<string | number>(shown) }) }
}
