import type { Command } from 'commander'
import { requirePartner } from '../../../core/partners/commands/require-partner.ts'
import { fields, table } from '../../../staff/answer.ts'
import { partnerId } from '../../../staff/arguments.ts'
import type { Run, StaffContext } from '../../../staff/context.ts'
import { nounOf } from '../../../staff/noun.ts'
import { Refusal } from '../../../staff/refusal.ts'
import { DORMANCY_NOTICE_DAYS, STALLED_AFTER_DAYS } from '../decisions/dormancy.ts'
import { setDormancy, stalledLeads } from '../statements/dormancy.ts'

const FEWEST_DAYS = 30

/** What the commands `partner` and `lead` can do beside their own. */
export function addDormancyCommands(program: Command, run: Run): void {
  nounOf(program, 'partner')
    .command('dormancy')
    .description('after how many days without a milestone its leads are closed, if they were never funded')
    .argument('<partner>', 'its id', partnerId)
    .argument('<days>', `a number from ${FEWEST_DAYS}; "off" for never; "default" for DORMANT_AFTER_DAYS`)
    .action(run(dormancy))
  nounOf(program, 'lead')
    .command('list')
    .description('open leads to look at')
    .requiredOption('--stalled', `funded more than ${STALLED_AFTER_DAYS} days ago, and not mortgage ready`)
    .action(run(listStalled))
}

async function dormancy(context: StaffContext, partner: number, text: string) {
  const name = await requirePartner(context.sql, partner)
  const days = daysOf(text)
  await context.change(async ({ sql, audit }) => {
    await setDormancy(sql, partner, days)
    await audit({ action: 'partner.dormancy', partnerId: partner, detail: { days } })
  })
  const which = { off: 'never', default: 'after DORMANT_AFTER_DAYS days' }[text] ?? `after ${days} days`
  return {
    json: { partner_id: partner, dormant_after_days: days },
    text: fields({
      partner: `${partner}, ${name}`,
      'leads without a milestone': `are closed ${which}, ${DORMANCY_NOTICE_DAYS} days after an email about them`,
    }),
  }
}

function daysOf(text: string): number | null {
  if (text === 'default') return null
  if (text === 'off') return 0
  const days = Number(text)
  if (/^\d{1,5}$/.test(text) && days >= FEWEST_DAYS && days <= 36_500) return days
  throw new Refusal(`Name a number of days from ${FEWEST_DAYS} to 36500, off, or default.`)
}

async function listStalled({ sql }: StaffContext) {
  const leads = await stalledLeads(sql)
  const text =
    leads.length === 0
      ? 'No lead is stalled.'
      : table(leads, {
          lead: 'lead_id',
          partner: 'partner_id',
          status: 'status',
          funded: 'funded_at',
          'last milestone': 'last_event_at',
        })
  return { json: { leads }, text }
}
