import type { Command } from 'commander'
import { retentionDays } from '../config.ts'
import { MOST_COUNTED, type Retained, RetentionHeld } from '../database/retained.ts'
import { jsonPieces } from '../http/streamed.ts'
import { findWholeLead } from '../leads/read-lead.ts'
import {
  type ErasureReason,
  erasureReasons,
  type HoldReason,
  holdReasons,
  withReference,
} from '../leads/reasons.ts'
import { addReason, detailOf, type Given, noSuchLead, requireLead } from '../leads/require-lead.ts'
import { fields, type Printed, table } from '../staff/answer.ts'
import { leadArgument, nounOf, oneOf } from '../staff/arguments.ts'
import { firstOf, type InboxSource } from '../staff/attention.ts'
import type { Run, StaffContext } from '../staff/context.ts'
import { Refusal } from '../staff/refusal.ts'
import { referralId } from '../temporal/names.ts'
import { eraseAgain, eraseLeads } from './erase.ts'
import { readErased } from './erasure-log.ts'
import { exportedLead } from './exported-lead.ts'
import { holdLead, releaseLead } from './holds.ts'
import { requireSameClock, retentionDryRun, runRetention } from './retention.ts'

export function addLeadExport(program: Command, run: Run): void {
  nounOf(program, 'lead')
    .command('export')
    .argument('<lead>', 'its id', leadArgument)
    .description('everything that is kept of a borrower, as JSON')
    .action(run(exportLead))
}

/** Prints everything that is kept of a lead as one JSON document, with `--json` or without. */
export async function exportLead({ sql, ownKeys, recordLook }: StaffContext, id: number): Promise<Printed> {
  const lead = await findWholeLead({ sql, encryptionKeys: ownKeys() }, id)
  if (lead === undefined) throw noSuchLead(id)
  return {
    print: async (_, write) => {
      await recordLook({ action: 'lead.export', leadId: id, partnerId: lead.partner_id })
      const parts = await exportedLead(sql, lead, { viewer: 'staff', workflowId: referralId(id) })
      for await (const piece of jsonPieces(parts)) await write(piece)
      await write('\n')
    },
  }
}

/** What the command `lead` can do beside its own. */
export function addErasureCommands(program: Command, run: Run): void {
  const lead = nounOf(program, 'lead')
  const named = (name: string) => lead.command(name).argument('<lead>', 'its id', leadArgument)
  addReason(lead.command('erase').argument('[lead]', 'its id', leadArgument), erasureReasons, {
    isOptional: true,
  })
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

type Name = keyof typeof retentionDays
export type Limits = StaffContext['config'] & Record<Name, number | null>

/**
 * Staff's settings with how old data may become. In production they have to say it: the workers may have other limits than
 * the default ones, and what retention removes is gone.
 *
 * @throws {Refusal}
 */
function limitsOf(config: StaffContext['config']): Limits {
  const names = Object.keys(retentionDays) as Name[]
  const missing = names.filter((name) => config[name] === undefined)
  if (config.ENVIRONMENT === 'production' && missing.length > 0)
    throw new Refusal(
      `Set ${missing.join(', ')} as the workers have them, or to the defaults of docs/settings.md: what retention removes is gone.`,
    )
  const days = names.map((name) => [name, config[name] === undefined ? retentionDays[name] : config[name]])
  return { ...config, ...(Object.fromEntries(days) as Record<Name, number | null>) }
}

type Classes = readonly Retained<Limits>[]

/** @param classes what is removed when it is old. */
export function addRetentionCommands(program: Command, run: Run, classes: Classes): void {
  const meanings = classes.map(({ name, meaning }) => `  ${name.padEnd(18)}${meaning}`)
  const names = classes.map(({ name }) => name)
  const retention = program
    .command('retention')
    .description('what is removed when it is old')
    .addHelpText('after', ['\nClasses:', ...meanings].join('\n'))
  retention
    .command('show')
    .description('what a run would remove now: a dry run')
    .action(run((context) => showRetention(context, classes)))
  retention
    .command('run')
    .description('remove it now; the workers do it once a day')
    .option('--class <name>', 'only this class', oneOf(names))
    .action(
      run((context, { class: only }: { class?: string }) =>
        runNow(
          context,
          classes.filter(({ name }) => only === undefined || name === only),
        ),
      ),
    )
}

export async function showRetention({ sql, config }: StaffContext, retained: Classes) {
  const classes = await retentionDryRun(sql, retained, limitsOf(config))
  const rowsOf = (rows: number) => (rows === MOST_COUNTED ? `${rows} or more` : rows)
  return {
    json: { classes },
    text: table(classes, {
      class: 'class',
      'days kept': ({ days }) => days ?? 'off',
      'to be removed': ({ rows }) => (rows === undefined ? null : rowsOf(rows)),
      oldest: 'oldest',
      'last run': 'ran_at',
      'removed then': 'removed',
    }),
  }
}

function refuseHeld(error: unknown): never {
  throw error instanceof RetentionHeld ? new Refusal(error.message) : error
}

export async function runNow({ sql, config: given, act }: StaffContext, retained: Classes) {
  const config = limitsOf(given)
  const names = retained.map(({ name }) => name)
  const removed = await act({ action: 'retention.run', detail: { classes: names } }, async () => {
    const counts: Record<string, number | null> = {}
    for (const each of retained)
      counts[each.name] = (await runRetention({ sql, config }, each).catch(refuseHeld)) ?? null
    return { result: counts, detail: { removed: counts } }
  })
  const shown = Object.entries(removed).map(([name, count]) => [name, count ?? 'off'] as const)
  return { json: { removed }, text: fields({ removed: '', ...Object.fromEntries<string | number>(shown) }) }
}

/** Retention that removes nothing because a clock is wrong. */
export const retentionInbox: InboxSource = {
  kind: 'retention',
  find: async ({ sql }, limit) => {
    try {
      await requireSameClock(sql, Date.now)
      return firstOf([], limit)
    } catch (error) {
      if (!(error instanceof RetentionHeld)) throw error
      const mend = 'correct the clock that is wrong'
      return firstOf([{ what: `${error.message}.`, since: null, touches: {}, mend }], limit)
    }
  },
}
