import type { Command } from 'commander'
import { type AuditFilter, auditRows, findAudit } from '../audit.ts'
import { table } from '../staff/answer.ts'
import { leadArgument, moment, partnerArgument, rows } from '../staff/arguments.ts'
import type { Run, StaffContext } from '../staff/context.ts'
import { raiseEpoch } from './deployment.ts'

/** Adds the nouns `record` and `audit`. */
export function addRecordCommands(program: Command, run: Run): void {
  program
    .command('record')
    .description('the record in PostgreSQL')
    .command('restored')
    .description(
      'run this before the processes start, if PostgreSQL was restored or failed over with lost commits: skips ids and sequences, has workflows continue from the record, and tells the partners',
    )
    .action(run(restored))
  const audit = program.command('audit').description('who did what: rows that never change')
  const ofTime = (name: string) =>
    audit
      .command(name)
      .option('--since <time>', 'from this time on', moment)
      .option('--until <time>', 'before this time', moment)
  ofTime('list')
    .description('newest first')
    .option('--partner <partner>', 'only about this partner', partnerArgument)
    .option('--lead <lead>', 'only about this lead', leadArgument)
    .option('--actor <name>', 'only by this person, or this key: "key 12"')
    .option('--action <action>', 'only this action, such as endpoint.set')
    .option('--limit <rows>', 'at most this many', rows, 100)
    .action(run(list))
  ofTime('export')
    .description('print rows as JSON, one a line, oldest first')
    .action(run(async ({ sql }, filter: AuditFilter) => ({ rows: auditRows(sql, filter) })))
}

export async function restored({ change }: StaffContext) {
  const epoch = await change(async ({ sql, audit }) => {
    const raised = await raiseEpoch(sql)
    await audit({ action: 'record.restored', detail: { epoch: raised } })
    return raised
  })
  const text = `Began epoch ${epoch}. Erase again what was erased since: lead erase --from FILE, with the erasure log. Then start the processes: within five minutes, all workflows continue from the record, and the partners get a mail.`
  return { json: { epoch }, text }
}

async function list({ sql }: StaffContext, filter: AuditFilter & { limit: number }) {
  const found = await findAudit(sql, filter)
  const text = table(found, {
    row: 'id',
    at: 'at',
    who: 'actor',
    action: 'action',
    outcome: ({ outcome, begun_id: begun }) => (begun === null ? outcome : `${outcome} (of ${begun})`),
    partner: 'partner_id',
    lead: 'lead_id',
    detail: 'detail',
    login: 'database_user',
  })
  const more =
    found.length === filter.limit ? `\n\nOnly ${filter.limit} are listed. To see more: --limit.` : ''
  return { json: { rows: found }, text: found.length === 0 ? 'There are no such rows.' : text + more }
}
