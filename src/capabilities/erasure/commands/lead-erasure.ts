import type { Command } from 'commander'
import { addReason, detailOf, type Given } from '../../../core/leads/commands/reason-options.ts'
import { requireLead } from '../../../core/leads/commands/require-lead.ts'
import {
  type ErasureReason,
  erasureReasons,
  type HoldReason,
  holdReasons,
  withReference,
} from '../../../core/leads/decisions/reasons.ts'
import { leadId } from '../../../staff/arguments.ts'
import type { Run, StaffContext } from '../../../staff/context.ts'
import { nounOf } from '../../../staff/noun.ts'
import { Refusal } from '../../../staff/refusal.ts'
import { eraseAgain } from '../statements/erase-again.ts'
import { eraseLeads } from '../statements/erase.ts'
import { readErased } from '../statements/erasure-log.ts'
import { holdLead, releaseLead } from '../statements/holds.ts'

/** What the command `lead` can do beside its own. */
export function addErasureCommands(program: Command, run: Run): void {
  const lead = nounOf(program, 'lead')
  const named = (name: string) => lead.command(name).argument('<lead>', 'its id', leadId)
  addReason(lead.command('erase').argument('[lead]', 'its id', leadId), erasureReasons, { isOptional: true })
    .option('--from <file>', 'an erasure log: erase again what a restored record still has of its leads')
    .description('erase its personal data now and for good')
    .addHelpText(
      'after',
      '\nExamples:\n  npm run staff -- lead erase 1 --reason borrower_request\n  npm run staff -- lead erase --from /var/lib/erasures/erasures.jsonl',
    )
    .action(run(erase))
  addReason(named('hold'), holdReasons)
    .description(
      'keep its data although somebody asks to erase it, and however old it becomes; a partner that asks is told why',
    )
    .addHelpText(
      'after',
      '\nExample:\n  npm run staff -- lead hold 1 --reason litigation --reference CASE-26-118',
    )
    .action(run(hold))
  named('release').description('end its hold').action(run(release))
}

interface EraseOptions extends Partial<Given<ErasureReason>> {
  from?: string
}

export async function erase(context: StaffContext, lead: number | undefined, options: EraseOptions) {
  const { reason, reference, from } = options
  if (from !== undefined && lead === undefined && reason === undefined) return eraseFrom(context, from)
  if (from !== undefined || lead === undefined || reason === undefined)
    throw new Refusal('Name a lead with --reason, or the file of an erasure log with --from.')
  return eraseOne(context, lead, { reason, reference })
}

async function eraseOne(context: StaffContext, lead: number, { reason, reference }: Given<ErasureReason>) {
  await requireErasable(context, lead)
  const erasing = { by: context.actor, reason, reference, logFile: context.config.ERASURE_LOG }
  const [erased] = await eraseLeads(context.sql, [lead], erasing)
  // if it was erased or held meanwhile, this says so
  if (erased === undefined) await requireErasable(context, lead)
  return { json: { lead_id: lead, outcome: 'erased' }, text: `Erased lead ${lead}.` }
}

async function eraseFrom(context: StaffContext, file: string) {
  const read = await readErased(file)
  const { lines, erased, held } = await eraseAgain(context.sql, read, context.actor)
  return {
    json: { lines, erased, held },
    text: [
      `The erasure log has ${lines} leads of this deployment.`,
      erased.length === 0
        ? 'Every one that the record has is erased.'
        : `Erased again what the record still had: leads ${erased.join(', ')}.`,
      ...(held.length > 0
        ? [
            `Not erased, because the record says that they are held: leads ${held.join(', ')}. If the hold was over before they were erased: "lead release", then this again.`,
          ]
        : []),
    ].join('\n'),
    failed: held.length > 0,
  }
}

/** @throws {Refusal} if it is held, erased already, or not there. */
async function requireErasable({ sql }: StaffContext, lead: number): Promise<void> {
  const { hold_reason: reason, hold_reference: reference } = await requireLead(sql, lead)
  if (reason !== null)
    throw new Refusal(`Lead ${lead} is held and cannot be erased: ${withReference(reason, reference)}.`)
}

export async function hold(context: StaffContext, lead: number, given: Given<HoldReason>) {
  const { reason, reference = null } = given
  const { partner_id: partnerId } = await requireLead(context.sql, lead)
  await context.change(async ({ sql, audit }) => {
    if (!(await holdLead(sql, lead, { reason, reference })))
      throw new Refusal(`Lead ${lead} has just been erased.`)
    await audit({ action: 'lead.hold', partnerId, leadId: lead, detail: detailOf(given) })
  })
  return {
    json: { lead_id: lead, held: true, reason, reference },
    text: `Lead ${lead} is held: it is not erased before "lead release ${lead}". A partner that asks to erase it is told why.`,
  }
}

export async function release(context: StaffContext, lead: number) {
  const { partner_id: partnerId } = await requireLead(context.sql, lead)
  await context.change(async ({ sql, audit }) => {
    if (!(await releaseLead(sql, lead))) throw new Refusal(`Lead ${lead} is not held.`)
    await audit({ action: 'lead.release', partnerId, leadId: lead })
  })
  return { json: { lead_id: lead, held: false }, text: `Lead ${lead} is not held any more.` }
}
