import { type Command, Option } from 'commander'
import { findDeliveries } from '../db/deliveries/list.ts'
import { type DeliveryStatus, deliveryStatuses } from '../domain/delivery.ts'
import { type Answer, table } from './answer.ts'
import { leadId, moment, partnerId, rows } from './arguments.ts'
import { replay } from './delivery-replay.ts'
import { resend } from './delivery-resend.ts'
import type { StaffContext, Run } from './context.ts'

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
    .description('webhooks: one delivery for each event that partners are told of')
    .addHelpText('after', '\nExample:\n  npm run staff -- delivery list --partner 1 --state pending')
  delivery
    .command('list')
    .description('the newest first; of one lead, in their order')
    .option('--partner <partner>', 'only this partner’s', partnerId)
    .option('--lead <lead>', 'only this lead’s', leadId)
    .addOption(new Option('--state <state>', 'only those').choices(deliveryStatuses))
    .option('--since <time>', 'events from this time on', moment)
    .option('--until <time>', 'events before this time', moment)
    .option('--limit <rows>', 'at most so many', rows, 100)
    .action(run(list))
  delivery
    .command('resend')
    .description('try an open webhook now, or send a settled one once more')
    .argument('<event>', 'its evt_…, see "delivery list"')
    .action(run(resend))
  delivery
    .command('replay')
    .description('send settled webhooks once more, each lead’s in order, slower than live traffic')
    .requiredOption('--partner <partner>', 'whose', partnerId)
    .option('--since <time>', 'events from this time on', moment)
    .option('--until <time>', 'events before this time', moment)
    .addOption(
      new Option('--state <state>', 'which').choices(['given-up', 'delivered', 'all']).default('given-up'),
    )
    .option('--dry-run', 'only count them')
    .action(run(replay))
}

export async function list({ sql }: StaffContext, options: ListOptions): Promise<Answer> {
  const { partner, lead, state, limit, since, until } = options
  const deliveries = await findDeliveries(sql, {
    ...(partner !== undefined && { partnerId: partner }),
    ...(lead !== undefined && { leadId: lead }),
    ...(state !== undefined && { states: [state] }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    limit,
  })
  const lines = deliveries.map((row) => [
    row.event_id,
    row.partner_id,
    row.lead_id,
    row.sequence,
    row.event_name,
    row.state,
    row.attempts ?? 0,
    row.settled_at ?? (row.state === 'pending' ? row.next_attempt_at : null),
    row.last_status ?? row.last_error_code,
    row.state === 'delivered' ? null : row.last_hint,
  ])
  const headings = [
    'event',
    'partner',
    'lead',
    '#',
    'name',
    'state',
    'attempts',
    'next or settled',
    'last',
    'hint',
  ]
  const more = deliveries.length === limit ? `\n\nThese are ${limit}; --limit shows more.` : ''
  return {
    json: { deliveries: deliveries.map((row) => ({ ...row, attempts: row.attempts ?? 0 })) },
    text: deliveries.length === 0 ? 'There are no such deliveries.' : table(headings, lines) + more,
  }
}
