import type { Command } from 'commander'
import { findLeadRecord } from '../statements/staff-reads.ts'
import { leadsWithoutNews, NEWS_WITHIN_DAYS } from '../statements/without-news.ts'
import { type CloseReason, closeReasons } from '../decisions/reasons.ts'
import { formatTimestamp } from '../../values/timestamps.ts'
import { table } from '../../../staff/answer.ts'
import { leadId } from '../../../staff/arguments.ts'
import type { StaffContext, Run } from '../../../staff/context.ts'
import { MOST_COUNTED } from '../../../staff/inbox.ts'
import { showLead } from './lead-view.ts'
import { addReason, detailOf, type Given } from './reason-options.ts'
import { requireLead } from './require-lead.ts'

export function addLeadCommands(program: Command, run: Run): void {
  const lead = program
    .command('lead')
    .description('referred borrowers')
    .addHelpText('after', '\nExample:\n  npm run staff -- lead close 1 --reason withdrew')
  const named = (name: string) => lead.command(name).argument('<lead>', 'its id', leadId)
  named('show')
    .description('fields, events, webhooks with their attempts, and the workflow')
    .action(
      run(async (context, id: number) =>
        showLead(context, await requireLead(context.sql, id, { evenErased: true })),
      ),
    )
  addReason(named('close'), closeReasons)
    .description('the borrower dropped out: nothing more is recorded; open webhooks are still sent')
    .action(run(close))
  lead
    .command('list')
    .description('open leads to look at, the longest without news first')
    .requiredOption(
      '--without-news',
      `no event for ${NEWS_WITHIN_DAYS} days by their own clock, and not mortgage ready`,
    )
    .action(run(listWithoutNews))
}

async function listWithoutNews({ sql }: StaffContext) {
  const leads = await leadsWithoutNews(sql, MOST_COUNTED)
  const text =
    leads.length === 0
      ? 'No lead is without news.'
      : table(leads, {
          lead: 'lead_id',
          partner: 'partner_id',
          status: 'status',
          'last event': 'last_event_at',
        })
  return { json: { leads }, text }
}

export async function close(context: StaffContext, lead: number, given: Given<CloseReason>) {
  const { reason } = given
  const { partner_id: partnerId, closed_at: closedAt, close_reason } = await requireLead(context.sql, lead)
  if (closedAt !== null) {
    return {
      json: { lead_id: lead, outcome: 'already_closed', closed_at: closedAt, close_reason },
      text: `Lead ${lead} was already closed at ${formatTimestamp(closedAt)} UTC: ${close_reason}.`,
    }
  }
  const action = { action: 'lead.close', partnerId, leadId: lead, detail: detailOf(given) }
  const closed = await context.act(action, async () => {
    await context.referrals.close(lead, reason)
    const result = (await findLeadRecord(context.sql, lead))?.closed_at
    return { result, detail: { outcome: result ? 'closed' : 'accepted' } }
  })
  const outcome = closed ? 'closed' : 'accepted'
  return {
    json: { lead_id: lead, outcome, closed_at: closed ?? null, close_reason: reason },
    text: closed
      ? `Closed lead ${lead}. Open webhooks are still sent. get-lead has closed_at.`
      : `Lead ${lead} is closed once the scores that were asked for are there: see "lead show ${lead}".`,
  }
}
