import type { Command } from 'commander'
import { auditLines, idsOfTime } from '../statements/audit-chain.ts'
import { type AuditFilter, findAudit } from '../../../core/audit/statements/audit.ts'
import { type Printed, table } from '../../../staff/answer.ts'
import { leadId, moment, partnerId, rows } from '../../../staff/arguments.ts'
import { addHead, verify } from './audit-verify.ts'
import type { Run, StaffContext } from '../../../staff/context.ts'

export function addAuditCommands(program: Command, run: Run): void {
  const audit = program
    .command('audit')
    .description('who did what: rows that never change, each with the hash of the one before')
    .addHelpText('after', '\nExample:\n  npm run staff -- audit list --since 24h')
  audit
    .command('list')
    .description('newest first')
    .option('--partner <partner>', 'only about this partner', partnerId)
    .option('--lead <lead>', 'only about this lead', leadId)
    .option('--actor <name>', 'only by this person, or this key: "key 12"')
    .option('--action <action>', 'only this action, such as endpoint.set')
    .option('--since <time>', 'from this time on', moment)
    .option('--until <time>', 'before this time', moment)
    .option('--limit <rows>', 'at most this many', rows, 100)
    .action(run(list))
  audit
    .command('verify')
    .description('find a row that was changed, is missing, or is not in its place')
    .option('--head <id:hash>', 'an end that a worker has logged (audit_head); can be given again', addHead)
    .action(run(verify))
  audit
    .command('export')
    .description(
      'print rows as JSON, one a line; docs/operations/staff-and-audit.md says how to check them elsewhere',
    )
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
    as: 'staff_name',
  })
  const more =
    found.length === filter.limit ? `\n\nOnly ${filter.limit} are listed. To see more: --limit.` : ''
  return { json: { rows: found }, text: found.length === 0 ? 'There are no such rows.' : text + more }
}

async function exportRows({ sql }: StaffContext, { from, to }: { from?: Date; to?: Date }): Promise<Printed> {
  const { after, last } = await idsOfTime(sql, from, to)
  return {
    print: async (_, write) => {
      for await (const line of auditLines(sql, after, last)) await write(`${JSON.stringify(line)}\n`)
    },
  }
}
