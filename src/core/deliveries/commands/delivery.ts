import { type Command, Option } from 'commander'
import { findDeliveries } from '../statements/list.ts'
import { type DeliveryStatus, deliveryStatuses } from '../decisions/delivery.ts'
import { table } from '../../../staff/answer.ts'
import { leadId, moment, oneOf, partnerId, rows } from '../../../staff/arguments.ts'
import type { StaffContext, Run } from '../../../staff/context.ts'
import { nextText } from './delivery-next.ts'
import { replay } from './delivery-replay.ts'
import { resend } from './delivery-resend.ts'
import { requireLead } from '../../leads/commands/require-lead.ts'
import { requirePartner } from '../../partners/commands/require-partner.ts'

interface ListOptions {
  partner?: number
  lead?: number
  state?: DeliveryStatus
  since?: Date
  until?: Date
  limit: number
}

export function addDeliveryCommands(program: Command, run: Run): void {
  const delivery = program
    .command('delivery')
    .description('webhooks: one delivery for each event that is sent')
    .addHelpText('after', '\nExample:\n  npm run staff -- delivery list --partner 1 --state pending')
  const ofTime = (name: string) =>
    delivery
      .command(name)
      .option('--since <time>', 'events from this time on', moment)
      .option('--until <time>', 'events before this time', moment)
  ofTime('list')
    .description('newest first; those of one lead in order')
    .option('--partner <partner>', 'only this partner’s', partnerId)
    .option('--lead <lead>', 'only this lead’s', leadId)
    .addOption(
      new Option('--state <state>', `only in this state: ${deliveryStatuses.join(', ')}`).argParser(
        oneOf(deliveryStatuses),
      ),
    )
    .option('--limit <rows>', 'at most this many', rows, 100)
    .action(run(list))
  delivery
    .command('resend')
    .description('try an open webhook now, or resend a settled one')
    .argument('<event>', 'its evt_…, see "delivery list"')
    .action(run(resend))
  ofTime('replay')
    .description('resend settled webhooks, in order for each lead and slower than live traffic')
    .requiredOption('--partner <partner>', 'whose', partnerId)
    .addOption(
      new Option('--state <state>', 'given_up, delivered or all')
        .argParser(oneOf(['given_up', 'delivered', 'all']))
        .default('given_up'),
    )
    .option('--dry-run', 'only count them')
    .action(run(replay))
}

export async function list({ sql }: StaffContext, options: ListOptions) {
  const { partner, lead, state, limit, since, until } = options
  if (partner !== undefined) await requirePartner(sql, partner)
  if (lead !== undefined) await requireLead(sql, lead, { evenErased: true })
  const found = await findDeliveries(sql, {
    ...(partner !== undefined && { partnerId: partner }),
    ...(lead !== undefined && { leadId: lead }),
    ...(state !== undefined && { states: [state] }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    limit,
  })
  const deliveries = found.map((row) => ({ ...row, attempts: row.attempts ?? 0 }))
  const text = table(deliveries, {
    event: 'event_id',
    partner: 'partner_id',
    lead: 'lead_id',
    '#': 'sequence',
    name: 'event_name',
    state: 'state',
    attempts: 'attempts',
    'next or settled': (row) => row.settled_at ?? nextText(row),
    last: (row) => row.last_status ?? row.last_error_code ?? (row.attempts > 0 ? 'under way' : null),
    hint: (row) => (row.state === 'delivered' ? null : row.last_hint),
  })
  const more = deliveries.length === limit ? `\n\nOnly ${limit} are listed. To see more: --limit.` : ''
  return {
    json: { deliveries },
    text: deliveries.length === 0 ? 'There are no such deliveries.' : text + more,
  }
}
