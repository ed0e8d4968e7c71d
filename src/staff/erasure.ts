import type { Command } from 'commander'
import { applyJournal } from '../db/erasures/apply-journal.ts'
import { cancelErasure, erasuresOf, openErasures } from '../db/erasures/requests.ts'
import { leadId } from './arguments.ts'
import type { Run, StaffContext } from './context.ts'
import { certificateLines, erasureFields } from './erasure-view.ts'
import { startErasure } from './lead-erasure.ts'
import { requireMayAct } from './permission.ts'
import { Refusal } from './refusal.ts'
import { requireLead } from './require-lead.ts'
import { table } from './answer.ts'

export function addErasureCommands(program: Command, run: Run): void {
  const erasure = program
    .command('erasure')
    .description(
      'borrowers whose personal data is to be erased, or was: see also "lead erase" and "lead hold"',
    )
    .addHelpText('after', '\nExample:\n  npm run staff -- erasure show 1')
  const named = (name: string) => erasure.command(name).argument('<lead>', 'its id', leadId)
  erasure.command('list').description('what is requested and not carried out').action(run(list))
  named('show').description('a lead’s erasure, with its certificate').action(run(show))
  named('cancel').description('cancel what is not carried out yet').action(run(cancel))
  erasure
    .command('apply')
    .description(
      'erase again what a restored backup still has; "migrate", "record restored" and the workers do it too',
    )
    .action(run(apply))
}

export async function list({ sql }: StaffContext) {
  const erasures = await openErasures(sql)
  return {
    json: { erasures },
    text:
      erasures.length === 0
        ? 'No erasure is waiting.'
        : table(erasures, {
            lead: 'lead_id',
            partner: 'partner_id',
            due: 'due_at',
            requested: 'requested_at',
            by: 'requested_by',
            reason: 'reason',
            'held because': 'hold_reason',
          }),
  }
}

export async function show({ sql }: StaffContext, lead: number) {
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

export async function cancel(context: StaffContext, lead: number) {
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

export async function apply(context: StaffContext) {
  const { journal } = context.erasure
  if (journal === undefined) throw new Refusal('There is no erasure journal: set ERASURE_JOURNAL.')
  await requireMayAct(context.sql)
  const { lines, erased, held } = await applyJournal(context.sql, context.erasure)
  return {
    json: { journal: journal.folder, lines, erased, held },
    text: [
      appliedText(erased),
      `The journal in ${journal.folder} has ${lines} lines of this deployment.`,
      ...heldText(held),
    ].join('\n'),
    failed: held.length > 0,
  }
}

const appliedText = (erased: number[]) =>
  erased.length === 0
    ? 'Every lead of the erasure journal is erased.'
    : `Erased again what the record still had: leads ${erased.join(', ')}.`

/** The record says that they must be kept: whoever restored it decides. */
const heldText = (held: number[]) =>
  held.length === 0
    ? []
    : [
        `Not erased, because the record says that they are held: leads ${held.join(', ')}. If the hold was over before they were erased: lead release, then erasure apply.`,
      ]

/** What the journal changed, for a command that restores a record. */
export async function eraseAgain(context: StaffContext) {
  await requireMayAct(context.sql)
  const { erased, held } = await applyJournal(context.sql, context.erasure)
  const lines = [...(erased.length > 0 ? [appliedText(erased)] : []), ...heldText(held)]
  return { erased, held, lines }
}
