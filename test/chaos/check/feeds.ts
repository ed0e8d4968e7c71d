import type { Evidence } from '../evidence.ts'
import { type Verdict, verdict } from './verdict.ts'

/** Every cursor gets every event, also those that commit late; after a restore, what was read since the copy comes again. */
export function checkFeeds({ feeds, record, faults }: Evidence): Verdict[] {
  const seen = new Map(feeds.map(({ partnerId, events }) => [partnerId, new Set(events)]))
  const isRestored = faults.some(({ kind }) => kind === 'restore')
  return [
    verdict('who follows list-events gets every event', record.events, (event) => {
      return !seen.get(event.partner_id)?.has(event.id) && `lead ${event.lead_id}: ${event.event_name}`
    }),
    verdict(
      'list-events repeats no event, and refuses no cursor',
      feeds,
      ({ partnerId, events, refusals }) => {
        const repeated = events.length - new Set(events).size
        const isWrong = !isRestored && (repeated > 0 || refusals.length > 0)
        return isWrong && `partner ${partnerId}: ${repeated} repeated, ${refusals.join(', ')}`
      },
    ),
  ]
}
