import type { Command } from 'commander'
import { sql as raw } from 'kysely'
import {
  type ErasureReason,
  erasureReasons,
  type HoldReason,
  holdReasons,
  withReference,
} from '../leads/reasons.ts'
import { noSuchLead, requireLead } from '../leads/staff-find.ts'
import { addReason, type Given } from '../leads/staff.ts'
import { type Answer, fields, table } from '../staff/answer.ts'
import { leadArgument, nounOf } from '../staff/arguments.ts'
import type { Run, StaffContext } from '../staff/context.ts'
import { Refusal } from '../fail.ts'
import type { ScheduleName } from '../temporal/schedules.ts'
import { eraseAgain, eraseLeads } from './erase.ts'
import { readErased } from './erasure-log.ts'
import { exportOnWire, findExport, type LeadExport } from './export-lead.ts'
import { countOld } from './retention.ts'

/** Adds the noun `retention`, and verbs to the noun `lead`. */
export function addPrivacyCommands(program: Command, run: Run): void {
  const lead = nounOf(program, 'lead')
  const named = (name: string) => lead.command(name).argument('<lead>', 'its id', leadArgument)
  named('show')
    .description('fields, events, webhooks with their attempts, and where its workflow is')
    .action(run(showLead))
  named('export').description('everything that is kept of a borrower, as JSON').action(run(exportLead))
  addReason(lead.command('erase').argument('[lead]', 'its id', leadArgument), erasureReasons, {
    isOptional: true,
  })
    .option('--from <file>', 'an erasure log: erase again what a restored record still has of its leads')
    .description('erase its personal data now and for good')
    .action(run(erase))
  addReason(named('hold'), holdReasons)
    .description('put it under a legal hold, so that nothing erases it; a partner is told why')
    .action(run(hold))
  named('release').description('end its hold').action(run(release))
  program
    .command('retention')
    .description('have the workers remove what is old now, as they do once a day')
    .option('--dry-run', 'only say what would be removed')
    .action(run(retention))
}

/** Everything that is kept of a lead, as JSON with `--json` or without. */
export async function exportLead(context: StaffContext, id: number) {
  const found = await look(context, id, 'lead.export')
  const json = exportOnWire(found)
  return { json, text: JSON.stringify(json, null, 2) }
}

/** `lead show`: the same as a text. The Web UI shows which signals its workflow ignored, and why. */
export async function showLead(context: StaffContext, id: number) {
  const found = await look(context, id, 'lead.show')
  const { config, temporal } = context
  const ui = config.TEMPORAL_UI_URL?.replace(/\/$/, '')
  const path = `namespaces/${temporal.namespace}/workflows/${found.workflow.workflow_id}`
  const url = ui === undefined ? null : `${ui}/${path}`
  return { json: { ...found, url }, text: textOf(found, url) }
}

/** Each look at a borrower leaves a row in the audit before anything is shown. */
async function look(context: StaffContext, id: number, action: string): Promise<LeadExport> {
  const { sql } = context
  const found = await findExport({ sql, encryptionKeys: await context.openingKeys(), leadId: id })
  if (found === undefined) throw noSuchLead(id)
  await context.recordLook({ action, leadId: id, partnerId: found.lead.partner_id })
  return found
}

/** Leaves out the bodies of webhooks and of endpoints' answers. */
function textOf(found: LeadExport, url: string | null): string {
  const { lead, onboarding_email, clock, score_updates, closing, workflow, events, deliveries } = found
  const { metadata, ...own } = lead
  const place = { ...workflow, 'Web UI': url }
  const about = Object.entries({
    onboarding_email,
    clock,
    score_updates,
    closing,
    hold: found.hold,
    workflow: place,
  })
  const described = about.flatMap(([part, values = {}]) =>
    Object.entries(values).map(([name, value]) => [`${part} ${name}`, value] as const),
  )
  const attempts = deliveries.flatMap(({ sequence, attempts: made }) =>
    made.map(({ response_headers: _, response_body: __, ...attempt }) => ({ sequence, ...attempt })),
  )
  const parts = [
    fields({ ...own, ...Object.fromEntries(described) }),
    // apart: a partner may name a field as we name one of the lead's
    fields(metadata),
    table(events),
    table(deliveries.map(({ body: _, attempts: __, ...delivery }) => delivery)),
    table(attempts),
  ]
  return parts.filter(Boolean).join('\n\n')
}

interface EraseOptions extends Partial<Given<ErasureReason>> {
  from?: string
}

export async function erase(
  context: StaffContext,
  lead: number | undefined,
  options: EraseOptions,
): Promise<Answer> {
  const { reason, reference, from } = options
  if (from !== undefined && lead === undefined && reason === undefined) return eraseFrom(context, from)
  if (from !== undefined || lead === undefined || reason === undefined)
    throw new Refusal('Name a lead with --reason, or the file of an erasure log with --from.')
  const erasing = { by: context.actor, detail: { reason, reference }, logFile: context.config.ERASURE_LOG }
  const [erased] = await eraseLeads(context.sql, [lead], erasing)
  if (erased === undefined) {
    const { hold_reason, hold_reference } = await requireLead(context.sql, lead)
    const why = withReference(hold_reason ?? 'released a moment ago', hold_reference)
    throw new Refusal(`Lead ${lead} is held and cannot be erased: ${why}.`)
  }
  return { json: { lead_id: lead, outcome: 'erased' }, text: `Erased lead ${lead}.` }
}

async function eraseFrom(context: StaffContext, file: string): Promise<Answer> {
  const { lines, erased, held } = await eraseAgain(context.sql, await readErased(file), context.actor)
  return {
    json: { lines, erased, held },
    text: fields({
      'leads of this deployment in the log': lines,
      'erased again': erased.join(', '),
      'held, so not erased: use "lead release", then repeat': held.join(', '),
    }),
    failed: held.length > 0,
  }
}

/** Keeps a lead from being erased; a repeat changes the reason. */
export async function hold(context: StaffContext, lead: number, { reason, reference }: Given<HoldReason>) {
  const { partner_id: partnerId } = await requireLead(context.sql, lead)
  await context.change(async ({ sql, audit }) => {
    const { numUpdatedRows } = await sql
      .updateTable('leads')
      .set({
        held_at: raw<Date>`coalesce(held_at, clock_timestamp())`,
        hold_reason: reason,
        hold_reference: reference ?? null,
      })
      .where('id', '=', lead)
      .where('erased_at', 'is', null)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw new Refusal(`Lead ${lead} has just been erased.`)
    await audit({ action: 'lead.hold', partnerId, leadId: lead, detail: { reason, reference } })
  })
  return {
    json: { lead_id: lead, held: true, reason, reference },
    text: `Lead ${lead} is held: it is not erased before "lead release ${lead}". A partner that asks to erase it is told why.`,
  }
}

export async function release(context: StaffContext, lead: number) {
  const { partner_id: partnerId, held_at: heldAt } = await requireLead(context.sql, lead)
  if (heldAt === null) throw new Refusal(`Lead ${lead} is not held.`)
  await context.change(async ({ sql, audit }) => {
    const released = { held_at: null, hold_reason: null, hold_reference: null }
    await sql.updateTable('leads').set(released).where('id', '=', lead).execute()
    await audit({ action: 'lead.release', partnerId, leadId: lead })
  })
  return { json: { lead_id: lead, held: false }, text: `Lead ${lead} is not held any more.` }
}

/** Has the workers remove old data now, by their settings. A dry run counts it by the settings of this process. */
export async function retention(context: StaffContext, { dryRun = false }: { dryRun?: boolean } = {}) {
  const { sql, config, client } = context
  if (dryRun) {
    const classes = await countOld(sql, config)
    const text = table(classes, {
      class: 'class',
      'days kept': ({ days }) => days ?? 'off',
      'to be removed': 'rows',
    })
    return { json: { classes }, text }
  }
  await context.requireOwnNamespace()
  await context.act({ action: 'retention.run' }, async () => ({
    result: await client.schedule.getHandle('retention' satisfies ScheduleName).trigger(),
  }))
  return {
    json: { started: true },
    text: 'A worker removes what is old: see the workflow “retention” in the Temporal Web UI.',
  }
}
