import { countReplay, type ReplayFilter } from '../statements/replays.ts'
import { replayId } from '../../temporal/names.ts'
import { fields } from '../../../staff/answer.ts'
import type { StaffContext } from '../../../staff/context.ts'
import { requirePartner } from '../../partners/commands/require-partner.ts'
import { Refusal } from '../../../staff/refusal.ts'

export interface ReplayOptions {
  partner: number
  since?: Date
  until?: Date
  state: 'given_up' | 'delivered' | 'all'
  dryRun?: boolean
}

const states: Record<ReplayOptions['state'], ReplayFilter['states']> = {
  given_up: ['given_up'],
  delivered: ['delivered'],
  all: ['given_up', 'delivered'],
}

/** Resends settled webhooks, each lead's in order, more slowly than live traffic. */
export async function replay(
  context: StaffContext,
  { partner, since, until, state, dryRun = false }: ReplayOptions,
) {
  const name = await requirePartner(context.sql, partner)
  const filter: ReplayFilter = {
    partnerId: partner,
    states: states[state],
    since: since?.toISOString() ?? null,
    until: until?.toISOString() ?? null,
    settledBefore: new Date().toISOString(),
  }
  const counts = await countReplay(context.sql, filter)
  const json = { partner_id: partner, since: filter.since, until: filter.until, ...counts }
  const text = fields({
    partner: `${partner}, ${name}`,
    webhooks: counts.webhooks,
    leads: counts.leads,
    'given up': counts.given_up,
    delivered: counts.delivered,
  })
  if (dryRun) return { json: { ...json, workflow_id: null }, text }
  if (counts.webhooks === 0) throw new Refusal('There are no such webhooks: see "delivery list".')
  const action = { action: 'delivery.replay', partnerId: partner, detail: { ...filter, ...counts } }
  const workflowId = await context.act(action, async () => {
    const result = await context.resends.replay(filter, counts.webhooks)
    if (result !== undefined) return { result }
    throw new Refusal(
      `A replay for partner ${partner} is already under way: see the workflow ${replayId(partner)} in the Temporal Web UI.`,
    )
  })
  return {
    json: { ...json, workflow_id: workflowId },
    text: `${text}\n\nThe replay has started. To see its progress or cancel it: the workflow ${workflowId} in the Temporal Web UI.`,
  }
}
