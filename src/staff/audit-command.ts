import type { Command } from 'commander'
import { type AuditFilter, auditRows, findAudit } from '../audit.ts'
import { type Printed, table } from './answer.ts'
import { leadArgument, moment, partnerArgument, rows } from './arguments.ts'
import type { Run, StaffContext } from './context.ts'

export function addAuditCommands(program: Command, run: Run): void {
  const audit = program
    .command('audit')
    .description('who did what: rows that never change')
    .addHelpText('after', '\nExample:\n  npm run staff -- audit list --since 24h')
  audit
    .command('list')
    .description('newest first')
    .option('--partner <partner>', 'only about this partner', partnerArgument)
    .option('--lead <lead>', 'only about this lead', leadArgument)
    .option('--actor <name>', 'only by this person, or this key: "key 12"')
    .option('--action <action>', 'only this action, such as endpoint.set')
    .option('--since <time>', 'from this time on', moment)
    .option('--until <time>', 'before this time', moment)
    .option('--limit <rows>', 'at most this many', rows, 100)
    .action(run(list))
  audit
    .command('export')
    .description('print rows as JSON, one a line, oldest first')
    .option('--from <time>', 'from this time on', moment)
    .option('--to <time>', 'before this time', moment)
    .action(run(exportRows))
}

async function list({ sql }: StaffContext, filter: AuditFilter) {
  const found = await findAudit(sql, filter)
  const text = table(found, {
    row: 'id',
    at: 'at',
    who: 'actor',
    action: 'action',
    outcome: ({ outcome, begun_id: begun }) => (begun === null ? outcome : `${outcome} (of ${begun})`),
    partner: 'partner_id',
    lead: 'lead_id',
    detail: ({ detail }) => detail && JSON.stringify(detail),
    from: ({ os_user: user, host }) => user && `${user}@${host}`,
    login: 'database_user',
  })
  const more =
    found.length === filter.limit ? `\n\nOnly ${filter.limit} are listed. To see more: --limit.` : ''
  return { json: { rows: found }, text: found.length === 0 ? 'There are no such rows.' : text + more }
}

async function exportRows({ sql }: StaffContext, { from, to }: { from?: Date; to?: Date }): Promise<Printed> {
  return {
    print: async (_, write) => {
      for await (const row of auditRows(sql, { since: from, until: to }))
        await write(`${JSON.stringify(row)}\n`)
    },
  }
}
