import type { Command } from 'commander'
import { raiseGeneration } from '../../../core/record/statements/generation.ts'
import { listRestores, lossesOf, markSeen } from '../statements/restores.ts'
import type { RestoreCause } from '../../../core/record/decisions/restore.ts'
import { fields, table } from '../../../staff/answer.ts'
import { whole } from '../../../staff/arguments.ts'
import { Refusal } from '../../../staff/refusal.ts'
import type { Run, StaffContext } from '../../../staff/context.ts'

/** Generations count seconds since 2026: until 2057. */
const LATEST_GENERATION = 999_999_999

export function addRecordCommands(program: Command, run: Run): void {
  const record = program
    .command('record')
    .description('the record in PostgreSQL, after it was restored')
    .addHelpText('after', '\nExample:\n  npm run staff -- record show')
  record
    .command('show')
    .description('when the record was restored, and what was lost')
    .action(run(showRestore))
  record
    .command('seen')
    .description('say that you know what a restore lost, and that nobody else has to look')
    .argument('<generation>', 'which restore: see "record show"', whole(1, LATEST_GENERATION))
    .action(run(seen))
  record
    .command('restored')
    .description(
      'say that PostgreSQL was restored from a copy of its files, or within the same server, before the processes start: a failover, a recovery to a moment and a dump in another server are noticed at once',
    )
    .action(run(restored))
}

const causes: Record<RestoreCause, string> = {
  system_identifier: 'the database is in another server',
  timeline: 'the server failed over, or was recovered to a moment',
  workflow: 'a workflow knew more',
  staff: 'staff said so',
}

export async function showRestore({ sql }: StaffContext) {
  const restores = await listRestores(sql)
  const shown = restores.filter(
    ({ seen_at: seenAt }, index) => seenAt === null || index === restores.length - 1,
  )
  const generations = shown.map(({ generation }) => generation)
  const losses = await lossesOf(sql, generations)
  const text =
    restores.length === 0
      ? 'The record has never been restored.'
      : [
          table(restores, {
            generation: 'generation',
            noticed: 'at',
            why: ({ cause }) => causes[cause],
            'reached until': 'reached_until',
            done: 'finished_at',
            seen: 'seen_at',
          }),
          losses.length === 0
            ? `Nothing is known to be lost by ${namesOf(generations)}.`
            : [
                `Lost by ${namesOf(generations)}:`,
                table(losses, {
                  generation: 'generation',
                  lead: 'lead_id',
                  partner: 'partner_id',
                  what: ({ event_name: name }) => name ?? 'the lead itself',
                  happened: 'happened_at',
                  'recorded again': ({ is_recorded_again: again }) => (again ? 'yes' : 'no'),
                }),
              ].join('\n'),
        ].join('\n\n')
  return { json: { restores, losses }, text }
}

/** Those that nobody has seen, and the latest. */
const namesOf = (generations: readonly number[]) =>
  generations.length === 1 ? 'the latest' : `the restores ${generations.join(', ')}`

export async function restored(context: StaffContext) {
  const generation = await context.change(async ({ sql, audit }) => {
    const raised = await raiseGeneration(sql, 'staff')
    await audit({ action: 'record.restored', detail: { generation: raised } })
    return raised
  })
  return {
    json: { generation },
    text: [fields({ generation }), AFTER].join('\n'),
  }
}

async function seen({ change }: StaffContext, generation: number) {
  const generations = await change(async ({ sql, audit }) => {
    const marked = await markSeen(sql, generation)
    if (marked.length > 0) await audit({ action: 'record.seen', detail: { generations: marked } })
    return marked
  })
  if (generations.length === 0)
    throw new Refusal(
      `No restore up to ${generation} is over and waits for somebody to look: see "record show".`,
    )
  return { json: { generations }, text: `Noted that you know what was lost: ${generations.join(', ')}.` }
}

const AFTER =
  'Erase again what was erased since: lead erase --from FILE, with the erasure log. The workers now have all workflows go on with what the record has, and tell the partners. To see what was lost: record show.'
