import type { Command } from 'commander'
import { auditName } from '../../../core/audit/decisions/audit-name.ts'
import { requireLead } from '../../../core/leads/commands/require-lead.ts'
import { type Answer, table } from '../../../staff/answer.ts'
import { keyId, leadId } from '../../../staff/arguments.ts'
import type { Run, StaffContext } from '../../../staff/context.ts'
import { Refusal } from '../../../staff/refusal.ts'
import { openClosings } from '../statements/open-closing.ts'
import { cancelClosing, cancelClosingsOf } from '../statements/requests.ts'
import { createClosingStarter } from '../workflows/closings.ts'

export function addClosingCommands(program: Command, run: Run): void {
  const closing = program
    .command('closing')
    .description('leads that partners asked to close, with POST /v1/close-lead: see also "lead close"')
    .addHelpText('after', '\nExample:\n  npm run staff -- closing cancel 1')
  closing.command('list').description('what is requested and not carried out').action(run(list))
  closing
    .command('cancel')
    .description('cancel what is not carried out yet: of a lead, or all that a key asked for')
    .argument('[lead]', 'its id', leadId)
    .option('--key <key>', 'all that this key asked for: see "key list"', keyId)
    .action(run(cancel))
}

export async function list({ sql }: StaffContext) {
  const closings = await openClosings(sql)
  const text =
    closings.length === 0
      ? 'No closing is waiting.'
      : table(closings, {
          lead: 'lead_id',
          partner: 'partner_id',
          due: 'due_at',
          told: 'told_at',
          requested: 'requested_at',
          by: 'requested_by',
          reason: 'reason',
        })
  return { json: { closings }, text }
}

export async function cancel(
  context: StaffContext,
  lead: number | undefined,
  { key }: { key?: number } = {},
): Promise<Answer> {
  if (key !== undefined && lead === undefined) return cancelOfKey(context, key)
  if (lead !== undefined && key === undefined) return cancelOne(context, lead)
  throw new Refusal('Name a lead, or a key with --key.')
}

async function cancelOfKey(context: StaffContext, key: number): Promise<Answer> {
  const canceled = await context.change(async ({ sql, audit }) => {
    const leads = await cancelClosingsOf(sql, auditName(key))
    const detail = { key_id: key }
    for (const { id, partner_id: partnerId } of leads)
      await audit({ action: 'lead.cancel_closing', partnerId, leadId: id, detail })
    return leads.map(({ id }) => id)
  })
  if (canceled.length === 0) throw new Refusal(`No closing that key ${key} asked for is waiting.`)
  await look(context, canceled)
  return {
    json: { key_id: key, lead_ids: canceled, outcome: 'canceled' },
    text: `Canceled the closings of leads ${canceled.join(', ')}, which key ${key} asked for. Tell the partner, who was told that they were coming.`,
  }
}

async function cancelOne(context: StaffContext, lead: number): Promise<Answer> {
  const { partner_id: partnerId } = await requireLead(context.sql, lead)
  await context.change(async ({ sql, audit }) => {
    if (!(await cancelClosing(sql, lead)))
      throw new Refusal(`No closing of lead ${lead} is waiting: see "closing list" and "lead show ${lead}".`)
    await audit({ action: 'lead.cancel_closing', partnerId, leadId: lead })
  })
  await look(context, [lead])
  return {
    json: { lead_id: lead, outcome: 'canceled' },
    text: `Canceled the closing of lead ${lead}. Tell the partner, who was told that it was coming.`,
  }
}

/** Their workflows find out on their day anyway. */
async function look(context: StaffContext, leads: readonly number[]): Promise<void> {
  const start = createClosingStarter(context)
  await Promise.all(leads.map((id) => start(id).catch(() => undefined)))
}
