import { describeToOperators } from './operator-view.ts'
import type { Journey } from './journey.ts'
import { publishSearchAttributes } from './search-attributes.ts'

/** Shows operators where the lead stands: its details in the Web UI, and its search attributes. */
export function show(journey: Journey): void {
  describeToOperators(journey)
  publishSearchAttributes(journey)
}

/**
 * Shows it once the messages of this moment are taken: a flood of signals comes in one go. Whoever changes the lead says
 * so, because a condition that looks for changes would cost each workflow task another round.
 */
export function showSoon(journey: Journey): void {
  if (journey.showing) return
  journey.showing = true
  void Promise.resolve().then(() => {
    journey.showing = false
    show(journey)
  })
}
