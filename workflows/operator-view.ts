import { setCurrentDetails } from '@temporalio/workflow'
import { furthest, type MilestoneName } from '../src/domain/milestones.ts'
import { scoreDate } from '../src/domain/score-dates.ts'
import type { Journey } from './journey.ts'
import { isCadenceOn } from './score-updates.ts'

const date = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ')

/** What an operator reads in the Temporal Web UI: ids and states, never personal data. */
export function showToOperators(journey: Journey): void {
  const { state } = journey
  const status = state.seen.reduce<MilestoneName>(furthest, 'lead_received')
  const lines = [
    `**Lead ${state.leadId}** is at **${status}**${state.closing ? ' and closed' : ''}.`,
    '',
    `- Recorded: ${state.seen.join(', ')}`,
    `- Next score update: ${isCadenceOn(journey) ? date(scoreDate(state.anchor ?? 0, state.period)) + ' UTC' : 'none'}`,
    `- Webhooks: ${describeDeliveries(journey)}`,
    ...(journey.notes.length > 0 ? ['', 'Changed nothing:'] : []),
    ...journey.notes.map(({ at, what, why }) => `- ${date(at)} \`${what}\`: ${why}`),
  ]
  setCurrentDetails(lines.join('\n'))
}

function describeDeliveries({ state: { next, last }, parked }: Journey): string {
  if (next > last) return `all ${last} settled`
  return `${last - next + 1} of ${last} open, ${parked ? 'held until the endpoint works' : `sending number ${next}`}`
}
