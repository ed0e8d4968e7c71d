import type { Payload } from '@temporalio/common'
import { payloadConverter } from '../../../../workflows/payload-converter.ts'
import type { MilestoneItem, Recording } from '../decisions/referral.ts'
import type { HistoryEvent } from '../../temporal/history.ts'

/** What activities of a lead’s workflow record: the arguments of one. */
const activityItems: Record<string, (args: unknown[]) => MilestoneItem[]> = {
  recordMilestones: ([, items]) => items as MilestoneItem[],
  // its gains stay in PostgreSQL: they are asked for once more
  recordScoreUpdate: ([, update]) => [
    { name: 'score_update', dedupeKey: (update as { dedupeKey: string }).dedupeKey },
  ],
}

/** What a history says was to be recorded, and what became of it, in its order. */
export function recordingsIn(
  events: readonly HistoryEvent[],
): { items: MilestoneItem[]; recording: Recording }[] {
  const itemsOf = itemsScheduledIn(events)
  return events.flatMap(({ activityTaskCompletedEventAttributes: completed }) => {
    const items = completed ? itemsOf(completed.scheduledEventId) : undefined
    if (!completed || items === undefined) return []
    const [recording] = decode(completed.result?.payloads) as [Recording | null]
    return recording === null ? [] : [{ items, recording }]
  })
}

/** Keys of score updates that were left out, because the provider had no gains in time. */
export function refusedScoresIn(events: readonly HistoryEvent[]): string[] {
  const itemsOf = itemsScheduledIn(events)
  return events.flatMap(({ activityTaskTimedOutEventAttributes: timedOut }) =>
    timedOut ? (itemsOf(timedOut.scheduledEventId) ?? []).map(({ dedupeKey }) => dedupeKey) : [],
  )
}

/** By the event that scheduled the activity; `undefined` for one that records nothing. */
function itemsScheduledIn(events: readonly HistoryEvent[]) {
  const scheduled = new Map(events.map((event) => [String(event.eventId), event]))
  return (eventId: HistoryEvent['eventId']): MilestoneItem[] | undefined => {
    const { activityTaskScheduledEventAttributes: asked } = scheduled.get(String(eventId)) ?? {}
    return activityItems[asked?.activityType?.name ?? '']?.(decode(asked?.input?.payloads))
  }
}

/** Never throws: a history may contain anything. */
export function decode(payloads: readonly Payload[] | null | undefined): unknown[] {
  return (payloads ?? []).map((payload) => payloadConverter.fromPayload(payload))
}
