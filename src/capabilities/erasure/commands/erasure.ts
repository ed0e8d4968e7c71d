import type { Command } from 'commander'
import { auditName } from '../../../core/audit/decisions/audit-name.ts'
import { eventsThere, unknownIntents } from '../statements/intents.ts'
import { erasureTools } from '../statements/journal.ts'
import { cancelErasure, cancelErasuresOf, erasuresOf, openErasures } from '../statements/requests.ts'
import type { JournalLine } from '../decisions/erasure.ts'
import { withReference } from '../../../core/leads/decisions/reasons.ts'
import { keyId, leadId } from '../../../staff/arguments.ts'
import type { Run, StaffContext } from '../../../staff/context.ts'
import { apply, dismiss, rebuild } from './erasure-journal.ts'
import { createErasureStarter } from '../workflows/erasures.ts'
import { certificateLines, erasureFields } from './erasure-view.ts'
import { addErasureCommandsOfALead, startErasure } from './lead-erasure.ts'
import { Refusal } from '../../../staff/refusal.ts'
import { requireLead } from '../../../core/leads/commands/require-lead.ts'
import { type Answer, table } from '../../../staff/answer.ts'

export function addErasureCommands(program: Command, run: Run): void {
  addErasureCommandsOfALead(program, run)
  const erasure = program
    .command('erasure')
    .description(
      'borrowers whose personal data is to be erased, or was: see also "lead erase" and "lead hold"',
    )
    .addHelpText('after', '\nExample:\n  npm run staff -- erasure show 1')
  const named = (name: string) => erasure.command(name).argument('<lead>', 'its id', leadId)
  erasure.command('list').description('what is requested and not carried out').action(run(list))
  named('show').description('a lead’s erasure, with its certificate').action(run(showErasure))
  erasure
    .command('cancel')
    .description('cancel what is not carried out yet: of a lead, or all that a key asked for')
    .argument('[lead]', 'its id', leadId)
    .option('--key <key>', 'all that this key asked for: see "key list"', keyId)
    .action(run(cancel))
  erasure
    .command('apply')
    .description(
      'erase again what a restored backup still has; "migrate", "record restored" and the workers do it too',
    )
    .action(run(apply))
  named('dismiss')
    .description('keep a lead of which the restored record does not know whether it was erased')
    .action(run(dismiss))
  erasure
    .command('rebuild')
    .description('write the erasure journal again from the record, after its files were lost')
    .action(run(rebuild))
}

export async function list({ sql, config }: StaffContext) {
  const { journal } = erasureTools(config)
  const erasures = await openErasures(sql)
  const unknown = journal === undefined ? [] : await unknownIntents(sql, journal)
  const there = await eventsThere(sql, unknown)
  const waiting =
    erasures.length === 0
      ? 'No erasure is waiting.'
      : table(erasures, {
          lead: 'lead_id',
          partner: 'partner_id',
          due: 'due_at',
          told: 'told_at',
          requested: 'requested_at',
          by: 'requested_by',
          reason: ({ reason, reference }) => reason && withReference(reason, reference),
          'held because': ({ hold_reason: reason, hold_reference: reference }) =>
            reason && withReference(reason, reference),
        })
  return {
    json: { erasures, unknown: unknown.map(({ lead_id, at }) => ({ lead_id, at })) },
    text: [waiting, ...(unknown.length > 0 ? [unknownText(unknown, there)] : [])].join('\n\n'),
  }
}

const unknownText = (unknown: JournalLine[], there: ReadonlySet<string>) =>
  [
    'The record was restored from before these erasures began, and nobody knows whether they were carried out. To erase the lead: "lead erase"; to keep it, or if the record does not have this lead: "erasure dismiss".',
    table(unknown, {
      lead: 'lead_id',
      begun: ({ at }) => new Date(at),
      'in the record': ({ event_id: event }) => (there.has(event) ? 'yes' : 'no'),
    }),
  ].join('\n')

export async function showErasure({ sql }: StaffContext, lead: number) {
  await requireLead(sql, lead, { evenErased: true })
  const erasures = await erasuresOf(sql, lead)
  if (erasures.length === 0) throw new Refusal(`Nobody has asked to erase lead ${lead}.`)
  const parts = erasures.map((erasure) =>
    [erasureFields(erasure), ...(erasure.certificate ? certificateLines(erasure.certificate) : [])].join(
      '\n\n',
    ),
  )
  return { json: { lead_id: lead, erasures }, text: parts.join('\n\n---\n\n') }
}

export async function cancel(
  context: StaffContext,
  lead: number | undefined,
  { key }: { key?: number } = {},
): Promise<Answer> {
  if ((lead === undefined) === (key === undefined)) throw new Refusal('Name a lead, or a key with --key.')
  return key === undefined ? cancelOne(context, lead ?? 0) : cancelOfKey(context, key)
}

async function cancelOfKey(context: StaffContext, key: number): Promise<Answer> {
  const leads = await context.change(async ({ sql, audit }) => {
    const canceled = await cancelErasuresOf(sql, auditName(key))
    for (const { id, partner_id: partnerId } of canceled)
      await audit({ action: 'lead.cancel_erasure', partnerId, leadId: id, detail: { key_id: key } })
    return canceled.map(({ id }) => id)
  })
  if (leads.length === 0) throw new Refusal(`No erasure that key ${key} asked for is waiting.`)
  // their workflows find out on their day anyway
  const start = createErasureStarter(context)
  await Promise.all(leads.map((id) => start(id).catch(() => undefined)))
  return {
    json: { key_id: key, lead_ids: leads, outcome: 'canceled' },
    text: `Canceled the erasures of leads ${leads.join(', ')}, which key ${key} asked for. Tell the partner, who was told that they were coming.`,
  }
}

async function cancelOne(context: StaffContext, lead: number): Promise<Answer> {
  const { partner_id: partnerId } = await requireLead(context.sql, lead)
  await context.change(async ({ sql, audit }) => {
    if (!(await cancelErasure(sql, lead)))
      throw new Refusal(`No erasure of lead ${lead} is waiting: see "erasure show ${lead}".`)
    await audit({ action: 'lead.cancel_erasure', partnerId, leadId: lead })
  })
  // its workflow finds out on its day anyway
  await startErasure(context, lead)
  return {
    json: { lead_id: lead, outcome: 'canceled' },
    text: `Canceled the erasure of lead ${lead}. Tell the partner, who was told that it was coming.`,
  }
}
