import type { Command } from 'commander'
import { eraseLeads } from '../statements/erase.ts'
import { holdLead, releaseLead } from '../statements/holds.ts'
import { reviewErasure } from '../statements/requests.ts'
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
import { erasureTools } from '../statements/journal.ts'
import { createErasureStarter } from '../workflows/erasures.ts'
import { requireWholeJournal } from './erasure-journal.ts'
import { addReason, detailOf, type Given } from '../../../core/leads/commands/reason-options.ts'
import { failureOf, Refusal } from '../../../staff/refusal.ts'
import { requireLead } from '../../../core/leads/commands/require-lead.ts'
import { soon } from '../../../staff/soon.ts'

/** What the command `lead` can do beside its own. */
export function addErasureCommandsOfALead(program: Command, run: Run): void {
  const lead = nounOf(program, 'lead')
  const named = (name: string) => lead.command(name).argument('<lead>', 'its id', leadId)
  addReason(named('erase'), erasureReasons)
    .description('erase its personal data now and for good; POST /v1/erase-lead requests it')
    .addHelpText('after', '\nExample:\n  npm run staff -- lead erase 1 --reason borrower_request')
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
  named('release')
    .description('end its hold: an erasure that is due is carried out at once')
    .action(run(release))
}

/** Erases a lead, whether or not that was requested before. Its workflow ends, and the certificate follows. */
export async function erase(
  context: StaffContext,
  lead: number,
  { reason, reference }: Given<ErasureReason>,
) {
  await requireErasable(context, lead)
  await requireWholeJournal(context)
  const erasing = { by: context.actor, reason, reference }
  const [erased] = await eraseLeads(context.sql, [lead], erasureTools(context.config), erasing)
  // if it was erased or held meanwhile, this says so
  if (erased === undefined) await requireErasable(context, lead)
  const away = await startErasure(context, lead)
  const isChecked = await soon(async () => (await reviewErasure(context.sql, lead))?.isChecked || undefined)
  return {
    json: { lead_id: lead, outcome: isChecked ? 'erased' : 'accepted' },
    text: isChecked
      ? `Erased lead ${lead}. For the certificate: erasure show ${lead}.`
      : `Erased lead ${lead}, but its workflow has not ended yet, and nobody has checked what is left. Is a worker running? See "erasure show ${lead}".${away}`,
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
  const open = await reviewErasure(context.sql, lead)
  const away = open === undefined ? '' : await startErasure(context, lead)
  return {
    json: { lead_id: lead, held: false },
    text: `Lead ${lead} is no longer held.${open === undefined ? '' : ` An erasure was requested: see "erasure show ${lead}".${away}`}`,
  }
}

/** Starts the workflow, or has a running one look. @returns what to say if it cannot: the sweep does it later. */
export async function startErasure(context: StaffContext, lead: number): Promise<string> {
  return createErasureStarter(context)(lead).then(
    () => '',
    (error: unknown) => `\n${failureOf(error, context.temporal.address).message}`,
  )
}
