import { setCurrentDetails } from '@temporalio/workflow'
import { detailsOf } from './operator-view.ts'
import type { Journey } from './journey.ts'
import { publishSearchAttributes } from './search-attributes.ts'

/** Tells operators where the lead is: its details in the Web UI, and its search attributes. */
export function publish(journey: Journey): void {
  setCurrentDetails(detailsOf(journey))
  publishSearchAttributes(journey)
}

/**
 * Does it once the messages of this moment are taken: a flood of signals comes in one go. Code that changes the lead says so,
 * because a condition that looks for changes would cost each workflow task another round.
 */
export function publishSoon(journey: Journey): void {
  if (journey.publishing) return
  journey.publishing = true
  void Promise.resolve().then(() => {
    journey.publishing = false
    publish(journey)
  })
}
