import type { Command } from 'commander'
import { closeSignal } from '../../workflows/messages.ts'
import { findLeadRecord, type LeadRecord } from '../db/leads/record.ts'
import type { Sql } from '../db/orm.ts'
import { formatTimestamp } from '../domain/timestamps.ts'
import { type Answer, printable } from './answer.ts'
import { leadId } from './arguments.ts'
import type { StaffContext, Run } from './context.ts'
import { show } from './lead-view.ts'
import { Refusal } from './refusal.ts'
import { soon } from './soon.ts'

/** What the workflow takes as a reason: it is kept in Temporal, so nobody's data belongs in it. */
const REASON = /^[\w .,-]{1,100}$/

export function addLeadCommands(program: Command, run: Run): void {
  const lead = program
    .command('lead')
    .description('one borrower’s referral')
    .addHelpText('after', '\nExample:\n  npm run staff -- lead close 1 --reason "borrower withdrew"')
  const named = (name: string) => lead.command(name).argument('<lead>', 'its id', leadId)
  named('show')
    .description('fields, history, webhooks with their attempts, and the workflow')
    .action(run(async (context, id: number) => show(context, await requireLead(context.sql, id))))
  named('close')
    .description('the borrower dropped out: no more milestones and score updates; open webhooks still go out')
    .requiredOption('--reason <text>', 'letters, digits and . , - only; no personal data')
    .action(run(close))
}

export async function close(
  context: StaffContext,
  lead: number,
  { reason }: { reason: string },
): Promise<Answer> {
  if (!REASON.test(reason)) {
    throw new Refusal('--reason takes 1 to 100 letters, digits, spaces and . , - without personal data.')
  }
  const { partner_id: partner, closed_at: closedAt, close_reason } = await requireLead(context.sql, lead)
  if (closedAt !== null) {
    return {
      json: { lead_id: lead, outcome: 'already_closed', closed_at: closedAt, close_reason },
      text: `Lead ${lead} was closed already, at ${formatTimestamp(closedAt)} UTC: ${printable(close_reason ?? '')}.`,
    }
  }
  const action = { action: 'lead.close', partnerId: partner, leadId: lead, detail: { reason } }
  const closed = await context.act(action, async () => {
    await context.referrals.signal(lead, closeSignal, { reason })
    const result = await soon(async () => (await findLeadRecord(context.sql, lead))?.closed_at ?? undefined)
    return { result, detail: { outcome: result ? 'closed' : 'accepted' } }
  })
  return {
    json: {
      lead_id: lead,
      outcome: closed ? 'closed' : 'accepted',
      closed_at: closed ?? null,
      close_reason: reason,
    },
    text: closed
      ? `Closed lead ${lead}. Webhooks that are open still go out.`
      : `Lead ${lead} will be closed, and is not yet: does the worker run? See "lead show ${lead}".`,
  }
}

export async function requireLead(sql: Sql, id: number): Promise<LeadRecord> {
  const lead = await findLeadRecord(sql, id)
  if (lead === undefined)
    throw new Refusal(`There is no lead ${id}: give the lead_id that create-lead answered.`)
  return lead
}
